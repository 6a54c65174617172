// The fields of a new worker. The contract's schema checks them here as it does at the service.
import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { FormProvider, useForm, useWatch } from "react-hook-form";
import {
  createWorkerBody,
  type CreateWorkerBody,
  defaultStopWait,
  stopSignals,
} from "../../contract/workers/worker.ts";
import { FormError } from "../app/FormError.tsx";
import { setServerErrors, toText } from "../app/form-values.ts";
import { LeaveGuard } from "../app/LeaveGuard.tsx";
import { Button } from "../ui/Button.tsx";
import { Checkbox } from "../ui/Checkbox.tsx";
import { DocsLink } from "../ui/DocsLink.tsx";
import { FieldGroup } from "../ui/FieldGroup.tsx";
import { Input } from "../ui/Input.tsx";
import { Select } from "../ui/Select.tsx";
import { CommandPreview } from "./CommandPreview.tsx";
import { NumberField, WorkerFieldFrame } from "./WorkerField.tsx";
import { limitFields, supervisionFields, workFields } from "./worker-fields.ts";
import { defaultValues, toPreview, type WorkerFormValues } from "./worker-form.ts";

type Machine = {
  /** The site's command, where it is known. */
  artisan: readonly string[] | undefined;
  /** The site's folder, where it is known. */
  root: string | undefined;
  /** In MB, null where it is not known. */
  memory: number | null;
};

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

  const submit = handleSubmit(async ({ stopasgroup, ...body }) => {
    try {
      // Another service may not know the field, and what is off need not be said.
      await onCreate({ ...body, ...(stopasgroup === true && { stopasgroup }) });
    } catch (error) {
      setServerErrors(error, Object.keys(defaultValues), setError);
    }
  });

  const isBusy = isSubmitting || isPending;
  return (
    <FormProvider {...form}>
      <LeaveGuard isDirty={isDirty} question="Leave without creating the worker?" />
      <form
        noValidate
        aria-label="New worker"
        onSubmit={(event) => void submit(event)}
        className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem] lg:gap-10"
      >
        <div className="grid gap-8">
          <FormError errors={errors} />
          <FieldGroup title="Queue">
            <WorkerFieldFrame
              name="connection"
              label="Connection"
              help="A queue connection from the site's config/queue.php."
              machineMemory={machineMemory}
            >
              {(aria) => (
                <Input {...aria} {...register("connection", { setValueAs: toText })} isCode />
              )}
            </WorkerFieldFrame>
            <WorkerFieldFrame
              name="queue"
              label="Queue"
              help="One or more queues in order of priority: high,default"
              machineMemory={machineMemory}
            >
              {(aria) => <Input {...aria} {...register("queue", { setValueAs: toText })} isCode />}
            </WorkerFieldFrame>
            <WorkerFieldFrame
              name="directory"
              label="Directory"
              help="Working directory inside the site's folder. Leave empty to use the folder itself."
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
              help="Run jobs even while the site is in maintenance mode."
              layout="beside"
              machineMemory={machineMemory}
            >
              {(aria) => <Checkbox {...aria} {...register("force")} />}
            </WorkerFieldFrame>
          </FieldGroup>
          <FieldGroup title="Limits">
            {limitFields.map((field) => (
              <NumberField key={field.name} {...field} machineMemory={machineMemory} />
            ))}
          </FieldGroup>
          <FieldGroup title="Supervision">
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
              help="Signal sent to stop a process. TERM lets the running job finish."
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
            <WorkerFieldFrame
              name="stopasgroup"
              label="Stop as group"
              help="Also send the stop signal to child processes. For commands that don't forward signals."
              layout="beside"
              machineMemory={machineMemory}
            >
              {(aria) => <Checkbox {...aria} {...register("stopasgroup")} />}
            </WorkerFieldFrame>
          </FieldGroup>
        </div>
        <div className="grid gap-4 lg:sticky lg:top-6">
          {/* What another service would run is not known. */}
          {machine.artisan !== undefined && (
            <>
              <CommandPreview artisan={machine.artisan} machineMemory={machineMemory} />
              <DocsLink page="workers">How workers run</DocsLink>
            </>
          )}
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
