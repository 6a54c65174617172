// The fields of a backup configuration, new or changed. The contract's schema checks them here as it does at the service.
import { zodResolver } from "@hookform/resolvers/zod";
import { lazy, type ReactNode, Suspense, useState } from "react";
import * as z from "zod/mini";
import { FormProvider, useForm, useWatch } from "react-hook-form";
import {
  createBackupConfigurationBody,
  defaultHold,
  type BackupConfiguration,
  type CreateBackupConfigurationBody,
} from "../../contract/backups/backup.ts";
import { id } from "../../contract/values.ts";
import { cronProblem } from "../../contract/backups/cron.ts";
import { FormError } from "../app/FormError.tsx";
import { setServerErrors, toNumber, toText } from "../app/form-values.ts";
import { LeaveGuard } from "../app/LeaveGuard.tsx";
import { Button } from "../ui/Button.tsx";
import { DocsLink } from "../ui/DocsLink.tsx";
import { Field } from "../ui/Field.tsx";
import { FieldGroup } from "../ui/FieldGroup.tsx";
import { Input } from "../ui/Input.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Select } from "../ui/Select.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { hasExtras } from "./backup-facts.ts";
import { fieldNames, presets, type ConfigurationFormValues } from "./configuration-form.ts";
import { Picker, SourceFields, type Choices } from "./SourceFields.tsx";

const SchedulePreview = lazy(async () => ({
  default: (await import("./SchedulePreview.tsx")).SchedulePreview,
}));

// Another service may have larger ids than ours.
const formSchema = z.extend(createBackupConfigurationBody, {
  storage_provider_id: id,
  backupable_id: id,
});

type ConfigurationFormProps = {
  /** Null for a new one. */
  configuration: BackupConfiguration | null;
  defaultValues: Partial<ConfigurationFormValues>;
  choices: Choices;
  /** IANA name; null where the service does not say. */
  timeZone: string | null;
  isPending: boolean;
  /** Resolves when it is stored; throws what the service has against it. */
  onSave: (body: CreateBackupConfigurationBody) => Promise<void>;
  /** Beside the submit button. */
  cancel: ReactNode;
};

function directoryHelp(isNew: boolean, isOurs: boolean): string {
  if (!isOurs) return "Path within the storage. Leave empty to let the service choose.";
  return isNew
    ? "Path within the storage. Leave empty to derive it from the name."
    : "Path within the storage for new backups. Existing backups stay where they are. Leave empty to keep the current path.";
}

export function ConfigurationForm({
  configuration,
  defaultValues,
  choices,
  timeZone,
  isPending,
  onSave,
  cancel,
}: ConfigurationFormProps) {
  const form = useForm<ConfigurationFormValues, unknown, CreateBackupConfigurationBody>({
    defaultValues,
    resolver: zodResolver(formSchema),
    mode: "onTouched",
  });
  const { register, handleSubmit, setError, setFocus, setValue, formState, control } = form;
  const { isSubmitting, isDirty, errors } = formState;
  const frequency = useWatch({ control, name: "frequency" });
  const hold = useWatch({ control, name: "hold" });
  const problem = cronProblem(frequency);
  // Left empty, a change keeps what is stored.
  const heldByDefault = configuration?.hold ?? defaultHold;
  // A service that lists its places is ours; of another one only the interface's own fields are known.
  const isOurs = configuration === null ? choices.providers !== null : hasExtras(configuration);
  const preset = presets.find((one) => one.frequency === frequency);
  // Chosen although the text is still that of a preset, from which it is then changed.
  const [isCustom, setIsCustom] = useState(false);

  const submit = handleSubmit(async (body) => {
    try {
      await onSave(body);
    } catch (error) {
      setServerErrors(error, fieldNames, setError);
    }
  });

  const isBusy = isSubmitting || isPending;
  const [label, busyLabel] =
    configuration === null ? ["Create backup", "Creating…"] : ["Save changes", "Saving…"];
  return (
    <FormProvider {...form}>
      <LeaveGuard isDirty={isDirty} question="Leave without saving the backup?" />
      <form
        noValidate
        aria-label={configuration === null ? "New backup" : "Edit backup"}
        onSubmit={(event) => void submit(event)}
        className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem] lg:gap-10"
      >
        <div className="grid gap-8">
          <FormError errors={errors} />
          <FieldGroup title="Source">
            <div className={configuration === null ? "sm:col-span-2" : undefined}>
              <Field label="Name" error={errors.name?.message}>
                {(aria) => <Input {...aria} {...register("name")} />}
              </Field>
            </div>
            <SourceFields configuration={configuration} choices={choices} />
          </FieldGroup>
          <FieldGroup title="Schedule">
            <Field label="Preset">
              {(aria) => (
                <Select
                  {...aria}
                  value={isCustom ? "" : (preset?.frequency ?? "")}
                  onChange={({ target: { value } }) => {
                    setIsCustom(value === "");
                    if (value === "") setFocus("frequency", { shouldSelect: true });
                    else setValue("frequency", value, { shouldDirty: true, shouldValidate: true });
                  }}
                >
                  {presets.map((one) => (
                    <option key={one.frequency} value={one.frequency}>
                      {one.label}
                    </option>
                  ))}
                  <option value="">Custom</option>
                </Select>
              )}
            </Field>
            <Field
              label="Frequency"
              help={`Cron expression: minute, hour, day, month, weekday. Time zone: ${timeZone ?? "the server's"}.`}
              error={errors.frequency?.message}
            >
              {(aria) => <Input {...aria} {...register("frequency")} isCode />}
            </Field>
          </FieldGroup>
          <FieldGroup title="Retention and storage">
            <Field
              label="Keep last"
              term="hold"
              help={
                isOurs
                  ? "1 to 8760 finished backups. Failed runs and backups made before a restore don't count. The newest good backup is always kept."
                  : "1 to 8760 backups."
              }
              error={errors.hold?.message}
            >
              {(aria) => (
                <Input
                  {...aria}
                  {...register("hold", { setValueAs: toNumber })}
                  inputMode="numeric"
                  placeholder={String(heldByDefault)}
                />
              )}
            </Field>
            <Field
              label="Storage provider"
              term="storage_provider_id"
              help={isOurs ? "Quarterdeck tests the connection when you save." : undefined}
              error={errors.storage_provider_id?.message}
              emptyText="Choose where to store backups."
            >
              {(aria) => (
                <Picker
                  aria={aria}
                  name="storage_provider_id"
                  choices={choices.providers}
                  prompt="Choose a storage provider"
                />
              )}
            </Field>
            <Field
              label="Directory"
              help={directoryHelp(configuration === null, isOurs)}
              error={errors.directory?.message}
            >
              {(aria) => (
                <Input {...aria} {...register("directory", { setValueAs: toText })} isCode />
              )}
            </Field>
            {isOurs && (
              <Field
                label="Restore drill"
                term="drill"
                help="Days between drills. A drill restores the newest backup to a scratch location, checks it and deletes the copy. Leave empty to never run drills."
                error={errors.drill?.message}
              >
                {(aria) => (
                  <Input
                    {...aria}
                    {...register("drill", { setValueAs: (value) => toNumber(value) ?? null })}
                    inputMode="numeric"
                    unit="days"
                  />
                )}
              </Field>
            )}
          </FieldGroup>
        </div>
        <div className="grid gap-4 lg:sticky lg:top-6">
          <Panel title="Next runs">
            <div className="min-h-48 px-4 py-3">
              {problem === null ? (
                <Suspense fallback={<Skeleton width="w-40" />}>
                  <SchedulePreview
                    frequency={frequency}
                    hold={hold ?? heldByDefault}
                    timeZone={timeZone ?? "UTC"}
                  />
                </Suspense>
              ) : (
                <p className="text-sm text-warn">{problem}</p>
              )}
              {timeZone === null && (
                <p className="mt-2 text-sm text-muted">
                  The service doesn't report the server's time zone. Times are shown in UTC.
                </p>
              )}
            </div>
          </Panel>
          {isOurs && <DocsLink page="backups">How backups work</DocsLink>}
          <div className="flex flex-wrap gap-2">
            <Button type="submit" variant="primary" isPending={isBusy}>
              {isBusy ? busyLabel : label}
            </Button>
            {cancel}
          </div>
        </div>
      </form>
    </FormProvider>
  );
}
