// What a configuration backs up, chosen from the account's lists, or by id where a service has none.
import { useFormContext, useFormState, useWatch } from "react-hook-form";
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import { toNumber } from "../app/form-values.ts";
import { Field, type FieldAria } from "../ui/Field.tsx";
import { Input } from "../ui/Input.tsx";
import { Select } from "../ui/Select.tsx";
import type { ConfigurationFormValues } from "./configuration-form.ts";

type Choice = { id: number; label: string };

/** Each list is null where the service does not offer it. */
export type Choices = {
  databases: readonly Choice[] | null;
  sites: readonly Choice[] | null;
  providers: readonly Choice[] | null;
};

type PickerProps = {
  aria: FieldAria;
  name: "backupable_id" | "storage_provider_id";
  choices: readonly Choice[] | null;
  prompt: string;
};

export function Picker({ aria, name, choices, prompt }: PickerProps) {
  const { register } = useFormContext<ConfigurationFormValues>();
  const field = register(name, { setValueAs: toNumber });
  if (choices === null) return <Input {...aria} {...field} inputMode="numeric" placeholder="ID" />;
  return (
    <Select {...aria} {...field}>
      <option value="">{choices.length === 0 ? "None in the inventory" : prompt}</option>
      {choices.map(({ id, label }) => (
        <option key={id} value={id}>
          {label}
        </option>
      ))}
    </Select>
  );
}

type SourceFieldsProps = { configuration: BackupConfiguration | null; choices: Choices };

export function SourceFields({ configuration, choices }: SourceFieldsProps) {
  const { register, resetField } = useFormContext<ConfigurationFormValues>();
  const { errors } = useFormState<ConfigurationFormValues>();
  const type = useWatch<ConfigurationFormValues, "backupable_type">({ name: "backupable_type" });
  if (configuration !== null)
    return (
      <div>
        <p className="flex min-h-6 items-center font-medium">Source</p>
        <p className="mt-1 flex min-h-9 items-center">
          {configuration.backupable.name} ({configuration.type})
        </p>
        <p className="mt-1.5 text-sm text-muted">
          The source can't be changed. To back up something else, create a new backup.
        </p>
      </div>
    );
  const kind = register("backupable_type");
  return (
    <>
      <Field label="Kind" term="backupable_type" error={errors.backupable_type?.message}>
        {(aria) => (
          <Select
            {...aria}
            {...kind}
            onChange={(event) => {
              void kind.onChange(event);
              // A database's id is not a site's. The cast: an empty control holds a text, which no id is, until it is read;
              // unregistering the field instead would make it the last one to get the focus of an error.
              resetField("backupable_id", { defaultValue: "" as never });
            }}
          >
            <option value="database">Database</option>
            <option value="site">Site folder</option>
          </Select>
        )}
      </Field>
      <Field
        label={type === "site" ? "Site" : "Database"}
        term="backupable_id"
        error={errors.backupable_id?.message}
        emptyText={type === "site" ? "Choose a site." : "Choose a database."}
      >
        {(aria) => (
          <Picker
            key={type}
            aria={aria}
            name="backupable_id"
            choices={type === "site" ? choices.sites : choices.databases}
            prompt={type === "site" ? "Choose a site" : "Choose a database"}
          />
        )}
      </Field>
    </>
  );
}
