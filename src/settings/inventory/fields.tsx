// The controls of the entry forms, each connected to the form by its name.
import { get, useFormContext, useFormState, useWatch } from "react-hook-form";
import type { ReactNode } from "react";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import { toNumber, toText } from "../../app/form/form-values.ts";
import { Checkbox } from "../../ui/form/Checkbox.tsx";
import { ChoiceList } from "../../ui/form/ChoiceList.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { Input } from "../../ui/form/Input.tsx";
import { Select } from "../../ui/form/Select.tsx";
import type { EntryValues } from "./entry-form.ts";

/** Returns the error of a field at any depth. */
export function useFieldError(name: string): string | undefined {
  const { errors } = useFormState<EntryValues>();
  const message: unknown = get(errors, `${name}.message`);
  return typeof message === "string" ? message : undefined;
}

type TextFieldProps = {
  name: string;
  label: string;
  help?: ReactNode;
  emptyText?: string | undefined;
  placeholder?: string;
  isCode?: boolean;
  isNumber?: boolean;
};

export function TextField({ name, label, help, emptyText, isNumber, ...input }: TextFieldProps) {
  const { register } = useFormContext<EntryValues>();
  const error = useFieldError(name);
  return (
    <Field label={label} help={help} error={error} emptyText={emptyText}>
      {(aria) => (
        <Input
          {...aria}
          {...register(name, { setValueAs: isNumber ? toNumber : toText })}
          {...input}
          inputMode={isNumber ? "numeric" : "text"}
        />
      )}
    </Field>
  );
}

export const NameField = ({ placeholder }: { placeholder: string }) => (
  <TextField name="name" label="Name" placeholder={placeholder} emptyText="Enter a name." />
);

type SelectFieldProps = {
  name: string;
  label: string;
  help?: ReactNode;
  emptyText?: string;
  options: readonly (readonly [value: string | number, label: string])[];
  isNumber?: boolean;
};

export function SelectField({
  name,
  label,
  help,
  emptyText,
  options,
  isNumber = false,
}: SelectFieldProps) {
  const { register } = useFormContext<EntryValues>();
  const error = useFieldError(name);
  return (
    <Field label={label} help={help} error={error} emptyText={emptyText}>
      {(aria) => (
        <Select {...aria} {...register(name, { setValueAs: isNumber ? toNumber : toText })}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

/** As wide as the form, because the fields that depend on it are below. */
export function CheckField({
  name,
  label,
  help,
}: {
  name: string;
  label: string;
  help?: ReactNode;
}) {
  const { register } = useFormContext<EntryValues>();
  return (
    <div className="sm:col-span-2">
      <Field label={label} help={help} layout="beside">
        {(aria) => <Checkbox {...aria} {...register(name)} />}
      </Field>
    </div>
  );
}

/** The type of an entry, which determines its fields. */
export function TypeField<Value extends string>({
  name,
  legend,
  options,
}: {
  name: string;
  legend: string;
  options: readonly { value: Value; label: string; help?: string }[];
}) {
  const { setValue } = useFormContext<EntryValues>();
  const value = useWatch<EntryValues>({ name });
  const [first] = options;
  const current = options.find((option) => option.value === value) ?? first;
  if (current === undefined) return null;
  return (
    <div className="sm:col-span-2">
      <ChoiceList
        legend={legend}
        options={options}
        value={current.value}
        onChange={(next) => setValue(name, next, { shouldDirty: true })}
      />
    </div>
  );
}

type ServerFieldProps = {
  servers: InventoryFile["servers"];
  help?: ReactNode;
  /** The meaning of no server; absent = a server is required. */
  none?: string;
};

export const ServerField = ({ servers, help, none }: ServerFieldProps) => (
  <SelectField
    name="server"
    label="Server"
    help={help}
    emptyText="Choose a server."
    isNumber
    options={[
      ["", none ?? (servers.length === 0 ? "Add a server first" : "Choose a server")],
      ...servers.map(({ id, name }) => [id, name] as const),
    ]}
  />
);
