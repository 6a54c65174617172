// The source of a configuration, selected from the service's lists, or by id where it has none.
import { useController, useFormContext, useFormState, useWatch } from "react-hook-form";
import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import { toNumber } from "../../app/form/form-values.ts";
import { Field, type FieldAria } from "../../ui/form/Field.tsx";
import { Input } from "../../ui/form/Input.tsx";
import { Select } from "../../ui/form/Select.tsx";
import type { Choice, Choices } from "./choices.ts";
import { type ConfigurationFormValues, nameAfter } from "./configuration-form.ts";

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

/** The field of a source that is selected from the service's lists. */
function SourceField({ choices }: { choices: Choices }) {
  const { setValue, getValues, clearErrors } = useFormContext<ConfigurationFormValues>();
  const { field, fieldState } = useController<ConfigurationFormValues, "backupable_id">({
    name: "backupable_id",
  });
  const type = useWatch<ConfigurationFormValues, "backupable_type">({ name: "backupable_type" });
  const groups = [
    { type: "database", label: "Databases", items: choices.databases ?? [] },
    { type: "site", label: "Site folders", items: choices.sites ?? [] },
  ] as const;
  const isEmpty = groups.every(({ items }) => items.length === 0);
  const choose = (key: string) => {
    for (const group of groups) {
      const chosen = group.items.find(({ id }) => `${group.type} ${id}` === key);
      if (chosen === undefined) continue;
      setValue("backupable_type", group.type, { shouldDirty: true });
      field.onChange(chosen.id);
      // A database has no files to exclude, and no fields to show such values.
      if (group.type === "database")
        for (const name of ["exclude", "exclude_caches"] as const) setValue(name, undefined);
      const name = getValues("name");
      const named = nameAfter(name, chosen, choices);
      if (named === name) continue;
      setValue("name", named, { shouldDirty: true });
      clearErrors("name");
    }
  };
  return (
    <Field
      label="Source"
      error={fieldState.error?.message}
      emptyText={isEmpty ? "Add a site or a database to the inventory first." : "Choose a source."}
    >
      {(aria) => (
        <Select
          {...aria}
          ref={field.ref}
          name={field.name}
          onBlur={field.onBlur}
          value={field.value === undefined ? "" : `${type} ${field.value}`}
          onChange={({ target }) => choose(target.value)}
        >
          <option value="" disabled>
            {isEmpty ? "None in the inventory" : "Choose a database or site"}
          </option>
          {groups
            .filter(({ items }) => items.length > 0)
            .map((group) => (
              <optgroup key={group.type} label={group.label}>
                {group.items.map(({ id, label }) => (
                  <option key={id} value={`${group.type} ${id}`}>
                    {label}
                  </option>
                ))}
              </optgroup>
            ))}
        </Select>
      )}
    </Field>
  );
}

/** For a service without lists: type and id of the source. */
function SourceByIdFields() {
  const { register } = useFormContext<ConfigurationFormValues>();
  const { errors } = useFormState<ConfigurationFormValues>();
  const type = useWatch<ConfigurationFormValues, "backupable_type">({ name: "backupable_type" });
  return (
    <>
      <Field label="Kind" error={errors.backupable_type?.message}>
        {(aria) => (
          <Select {...aria} {...register("backupable_type")}>
            <option value="database">Database</option>
            <option value="site">Site folder</option>
          </Select>
        )}
      </Field>
      <Field
        label={type === "site" ? "Site" : "Database"}
        error={errors.backupable_id?.message}
        emptyText={type === "site" ? "Enter the site's ID." : "Enter the database's ID."}
      >
        {(aria) => <Picker aria={aria} name="backupable_id" choices={null} prompt="" />}
      </Field>
    </>
  );
}

type SourceFieldsProps = { configuration: BackupConfiguration | null; choices: Choices };

export function SourceFields({ configuration, choices }: SourceFieldsProps) {
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
  const isListed = choices.databases !== null || choices.sites !== null;
  return isListed ? <SourceField choices={choices} /> : <SourceByIdFields />;
}
