// The fields of a backup configuration, new or changed.
import { useState } from "react";
import { useFormContext, useFormState, useWatch } from "react-hook-form";
import { type BackupConfiguration, defaultHold } from "../../contract/backups/backup.ts";
import { toNumber, toText } from "../app/form-values.ts";
import { Field } from "../ui/Field.tsx";
import { FieldGroup } from "../ui/FieldGroup.tsx";
import { Input } from "../ui/Input.tsx";
import { Select } from "../ui/Select.tsx";
import { type ConfigurationFormValues, presets } from "./configuration-form.ts";
import { type Choices, Picker, SourceFields } from "./SourceFields.tsx";

type ConfigurationFieldsProps = {
  /** Null for a new one. */
  configuration: BackupConfiguration | null;
  choices: Choices;
  /** IANA name; null where the service does not say. */
  timeZone: string | null;
  /** The service is Quarterdeck's own. */
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
  // Chosen although the text is still that of a preset, from which it is then changed.
  const [isCustom, setIsCustom] = useState(false);
  return (
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
  );
}

function StorageFields({
  configuration,
  choices,
  isOurs,
}: Omit<ConfigurationFieldsProps, "timeZone">) {
  const { register } = useFormContext<ConfigurationFormValues>();
  const { errors } = useFormState<ConfigurationFormValues>();
  return (
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
            placeholder={String(configuration?.hold ?? defaultHold)}
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
        {(aria) => <Input {...aria} {...register("directory", { setValueAs: toText })} isCode />}
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
  );
}

export function ConfigurationFields({ timeZone, ...fields }: ConfigurationFieldsProps) {
  const { configuration, choices } = fields;
  const { register } = useFormContext<ConfigurationFormValues>();
  const { errors } = useFormState<ConfigurationFormValues>({ name: "name" });
  return (
    <>
      <FieldGroup title="Source">
        <div className={configuration === null ? "sm:col-span-2" : undefined}>
          <Field label="Name" error={errors.name?.message}>
            {(aria) => <Input {...aria} {...register("name")} />}
          </Field>
        </div>
        <SourceFields configuration={configuration} choices={choices} />
      </FieldGroup>

      <ScheduleFields timeZone={timeZone} />
      <StorageFields {...fields} />
    </>
  );
}
