// The fields of the form of a backup configuration.
import { useState } from "react";
import { useFormContext, useFormState, useWatch } from "react-hook-form";
import { type BackupConfiguration, defaultHold } from "../../../contract/backups/backup.ts";
import { slugOf } from "../../../contract/backups/slug.ts";
import { toNumber, toText } from "../../app/form/form-values.ts";
import { Checkbox } from "../../ui/form/Checkbox.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { FoldedFields } from "../../ui/form/FoldedFields.tsx";
import { Input } from "../../ui/form/Input.tsx";
import { Select } from "../../ui/form/Select.tsx";
import type { Choices } from "./choices.ts";
import { advancedSummary, type ConfigurationFormValues, presets } from "./configuration-form.ts";
import { CopyToField } from "./CopyToField.tsx";
import { ExcludeFields } from "./ExcludeFields.tsx";
import { KeepFields } from "./KeepFields.tsx";
import { SpeedFields } from "./SpeedFields.tsx";
import { Picker, SourceFields } from "./SourceFields.tsx";

type ConfigurationFieldsProps = {
  /** Null for a new configuration. */
  configuration: BackupConfiguration | null;
  choices: Choices;
  /** IANA name; null where the service does not return it. */
  timeZone: string | null;
  /** Whether the service is Quarterdeck's own. */
  isOurs: boolean;
};

function directoryHelp(isNew: boolean, isOurs: boolean): string {
  if (!isOurs) return "Path within the storage. Leave empty to let the service choose.";
  return isNew
    ? "Path within the storage. Leave empty to derive it from the name."
    : "Path within the storage for new backups. Existing backups stay where they are. Leave empty to keep the current path.";
}

function ScheduleFields({ timeZone }: Pick<ConfigurationFieldsProps, "timeZone">) {
  const { register, setFocus, setValue, control } = useFormContext<ConfigurationFormValues>();
  const { errors } = useFormState<ConfigurationFormValues>({ name: "frequency" });
  const frequency = useWatch({ control, name: "frequency" });
  const preset = presets.find((one) => one.frequency === frequency);
  // "Custom" is selected even while the text is still that of a preset.
  const [isCustom, setIsCustom] = useState(preset === undefined);
  const choose = (value: string) => {
    setIsCustom(value === "");
    if (value !== "") setValue("frequency", value, { shouldDirty: true, shouldValidate: true });
    // The field exists from the next render on.
    else setTimeout(() => setFocus("frequency", { shouldSelect: true }));
  };
  return (
    <>
      <Field label="Schedule" help={`Time zone: ${timeZone ?? "the server's"}.`}>
        {(aria) => (
          <Select
            {...aria}
            value={isCustom ? "" : (preset?.frequency ?? "")}
            onChange={({ target }) => choose(target.value)}
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
      {(isCustom || preset === undefined) && (
        <Field
          label="Cron expression"
          help="Minute, hour, day, month, weekday."
          error={errors.frequency?.message}
        >
          {(aria) => <Input {...aria} {...register("frequency")} isCode />}
        </Field>
      )}
    </>
  );
}

const advancedNames = [
  "copy_storage_provider_id",
  "hold",
  "keep",
  "directory",
  "drill",
  "exclude",
  "compression_level",
  "bytes_per_second",
] as const;

function AdvancedFields({
  configuration,
  choices: { providers },
  isOurs,
}: Pick<ConfigurationFieldsProps, "configuration" | "choices" | "isOurs">) {
  const { register, trigger } = useFormContext<ConfigurationFormValues>();
  const { errors } = useFormState<ConfigurationFormValues>();
  const values = useWatch<ConfigurationFormValues>();
  const keptHold = configuration?.hold ?? defaultHold;
  const keptDirectory = configuration?.directory ?? "";
  // Older versions of the service have no second storage.
  const canCopy =
    isOurs && (configuration === null || configuration.copy_storage_provider_id !== undefined);
  return (
    <FoldedFields
      title="Advanced"
      summary={advancedSummary(values, { keptHold, keptDirectory, isOurs })}
      hasError={advancedNames.some((name) => errors[name] !== undefined)}
    >
      <Field
        label="Keep last"
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
            placeholder={String(keptHold)}
          />
        )}
      </Field>
      <Field
        label="Directory"
        help={directoryHelp(configuration === null, isOurs)}
        error={errors.directory?.message}
      >
        {(aria) => (
          <Input
            {...aria}
            {...register("directory", {
              setValueAs: toText,
              // A path that leaves the storage is rejected while it is typed.
              onChange: () => void trigger("directory"),
            })}
            isCode
            placeholder={keptDirectory || (isOurs && values.name ? slugOf(values.name) : undefined)}
          />
        )}
      </Field>
      {canCopy && providers !== null && <CopyToField providers={providers} />}
      {isOurs && <KeepFields />}
      {isOurs && <ExcludeFields />}
      {isOurs && <SpeedFields />}
      {isOurs && (
        <Field
          label="Incremental"
          layout="beside"
          help="Store only what has changed since the last full backup, which is made once a week. Takes memory and disk on Quarterdeck's machine."
        >
          {(aria) => <Checkbox {...aria} {...register("incremental")} />}
        </Field>
      )}
      {isOurs && (
        <Field
          label="Restore drill"
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
    </FoldedFields>
  );
}

export function ConfigurationFields({
  configuration,
  choices,
  timeZone,
  isOurs,
}: ConfigurationFieldsProps) {
  const { register } = useFormContext<ConfigurationFormValues>();
  const { errors } = useFormState<ConfigurationFormValues>();
  return (
    <>
      <div className="grid items-start gap-x-6 gap-y-5 sm:grid-cols-2">
        <SourceFields configuration={configuration} choices={choices} />
        <Field label="Name" error={errors.name?.message}>
          {(aria) => <Input {...aria} {...register("name")} />}
        </Field>
        <ScheduleFields timeZone={timeZone} />
        <Field
          label="Storage"
          help={isOurs ? "Quarterdeck tests the connection when you save." : undefined}
          error={errors.storage_provider_id?.message}
          emptyText="Choose where to store backups."
        >
          {(aria) => (
            <Picker
              aria={aria}
              name="storage_provider_id"
              choices={choices.providers}
              prompt="Choose a storage"
            />
          )}
        </Field>
      </div>
      <AdvancedFields configuration={configuration} choices={choices} isOurs={isOurs} />
    </>
  );
}
