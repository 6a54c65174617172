// The fields of a new worker. The contract's schema checks them here as it does at the service.
import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { FormProvider, useForm, useWatch } from "react-hook-form";
import { defaultArtisan } from "../../contract/workers/command.ts";
import {
  createWorkerBody,
  type CreateWorkerBody,
  defaultStopWait,
  stopSignals,
} from "../../contract/workers/worker.ts";
import { ApiError, messageOf } from "../api/api-error.ts";
import { Button } from "../ui/Button.tsx";
import { Checkbox } from "../ui/Checkbox.tsx";
import { Input } from "../ui/Input.tsx";
import { Notice } from "../ui/Notice.tsx";
import { Select } from "../ui/Select.tsx";
import { CommandPreview } from "./CommandPreview.tsx";
import { LeaveGuard } from "./LeaveGuard.tsx";
import { NumberField, WorkerFieldFrame } from "./WorkerField.tsx";
import { limitFields, supervisionFields, workFields } from "./worker-fields.ts";
import {
  defaultValues,
  toPreview,
  toText,
  type WorkerField,
  type WorkerFormValues,
} from "./worker-form.ts";

type Machine = {
  artisan: readonly string[] | undefined;
  /** The site's folder, where it is known. */
  root: string | undefined;
  /** In MB, null where it is not known. */
  memory: number | null;
};

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="border-t border-line pt-5">
      {/* Floats, because a legend stands on the border otherwise. */}
      <legend className="float-left w-full pb-4 text-lg font-semibold">{title}</legend>
      <div className="clear-both grid gap-x-6 gap-y-5 sm:grid-cols-2">{children}</div>
    </fieldset>
  );
}

type WorkerFormProps = {
  machine: Machine;
  isPending: boolean;
  /** Resolves when the worker is made; throws what the service has against it. */
  onCreate: (body: CreateWorkerBody) => Promise<void>;
  /** Beside the submit button. */
  cancel: ReactNode;
};

export function WorkerForm({ machine, isPending, onCreate, cancel }: WorkerFormProps) {
  const form = useForm<WorkerFormValues, unknown, CreateWorkerBody>({
    defaultValues,
    resolver: zodResolver(createWorkerBody),
    mode: "onTouched",
  });
  const { register, handleSubmit, setError, formState } = form;
  const { isSubmitting, isDirty, errors } = formState;
  const timeout = useWatch({ control: form.control, name: "timeout" });
  const { memory: machineMemory } = machine;

  /** Each complaint goes to its field; what belongs to no field of this form stands above it. */
  const showRefusal = (error: unknown) => {
    const fields = error instanceof ApiError ? Object.entries(error.fields) : [];
    const known = fields.filter(([name]) => Object.hasOwn(defaultValues, name));
    known.forEach(([name, texts], index) =>
      // Only names of fields are left.
      setError(name as WorkerField, { message: texts.join(" ") }, { shouldFocus: index === 0 }),
    );
    const unknown = fields.filter((field) => !known.includes(field)).flatMap(([, texts]) => texts);
    if (known.length === 0 || unknown.length > 0)
      setError("root.service", { message: unknown.join(" ") || messageOf(error) });
  };

  const submit = handleSubmit(async (body) => {
    try {
      await onCreate(body);
    } catch (error) {
      showRefusal(error);
    }
  });

  const isBusy = isSubmitting || isPending;
  return (
    <FormProvider {...form}>
      <LeaveGuard isDirty={isDirty} />
      <form
        noValidate
        aria-label="New worker"
        onSubmit={(event) => void submit(event)}
        className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem] lg:gap-10"
      >
        <div className="grid gap-8">
          {errors.root?.["service"]?.message !== undefined && (
            <Notice tone="bad" isAlert>
              {errors.root["service"].message}
            </Notice>
          )}
          <Group title="What it works on">
            <WorkerFieldFrame
              name="connection"
              label="Connection"
              help="A queue connection of the site, as in its config/queue.php."
              machineMemory={machineMemory}
            >
              {(aria) => (
                <Input {...aria} {...register("connection", { setValueAs: toText })} isCode />
              )}
            </WorkerFieldFrame>
            <WorkerFieldFrame
              name="queue"
              label="Queue"
              help="One queue or several, by priority: high,default"
              machineMemory={machineMemory}
            >
              {(aria) => <Input {...aria} {...register("queue", { setValueAs: toText })} isCode />}
            </WorkerFieldFrame>
            <WorkerFieldFrame
              name="directory"
              label="Directory"
              help="Where it runs, inside the site's folder. Empty = the folder itself."
              machineMemory={machineMemory}
            >
              {(aria) => (
                <Input
                  {...aria}
                  {...register("directory", { setValueAs: toText })}
                  isCode
                  placeholder={machine.root}
                />
              )}
            </WorkerFieldFrame>
            {workFields.map((field) => (
              <NumberField key={field.name} {...field} machineMemory={machineMemory} />
            ))}
            <WorkerFieldFrame
              name="force"
              label="Force"
              help="Work also while the site is in maintenance mode."
              layout="beside"
              machineMemory={machineMemory}
            >
              {(aria) => <Checkbox {...aria} {...register("force")} />}
            </WorkerFieldFrame>
          </Group>
          <Group title="Limits">
            {limitFields.map((field) => (
              <NumberField key={field.name} {...field} machineMemory={machineMemory} />
            ))}
          </Group>
          <Group title="Supervision">
            {supervisionFields.map((field) => (
              <NumberField
                key={field.name}
                {...field}
                machineMemory={machineMemory}
                {...(field.name === "stopwaitsecs" && {
                  placeholder: String(defaultStopWait(toPreview({ timeout }).timeout)),
                })}
              />
            ))}
            <WorkerFieldFrame
              name="stopsignal"
              label="Stop signal"
              help="How a stop is asked for. TERM lets the running job finish."
              machineMemory={machineMemory}
            >
              {(aria) => (
                <Select {...aria} {...register("stopsignal")}>
                  {stopSignals.map((signal) => (
                    <option key={signal}>{signal}</option>
                  ))}
                </Select>
              )}
            </WorkerFieldFrame>
          </Group>
        </div>
        <div className="grid gap-4 lg:sticky lg:top-6">
          <CommandPreview
            artisan={machine.artisan ?? defaultArtisan}
            machineMemory={machineMemory}
          />
          <div className="flex flex-wrap gap-2">
            <Button type="submit" variant="primary" isPending={isBusy}>
              {isBusy ? "Creating…" : "Create worker"}
            </Button>
            {cancel}
          </div>
        </div>
      </form>
    </FormProvider>
  );
}
