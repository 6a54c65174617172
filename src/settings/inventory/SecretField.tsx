// A secret of an entry. It can be typed but never read: only the place of a stored secret is shown.
import { type ReactNode, useState } from "react";
import { useController } from "react-hook-form";
import { Field } from "../../ui/form/Field.tsx";
import { Input } from "../../ui/form/Input.tsx";
import { Select } from "../../ui/form/Select.tsx";
import { controlClass } from "../../ui/form/control-class.ts";
import type { EntryValues } from "./entry-form.ts";
import { useFieldError } from "./fields.tsx";
import { secretWords } from "./kinds.ts";

type SecretFieldProps = {
  name: string;
  label: string;
  /** Error of an empty field, e.g. "Enter the database's URL." */
  emptyText: string;
  placeholder?: string;
  /** Describes the format. */
  help?: ReactNode;
  /** For a private key, which has several lines and may be in an agent. */
  isKey?: boolean;
  /** For another text with several lines. */
  text?: { label: string; placeholder: string };
  /** Label of the choice to have no secret; absent = one is required. */
  none?: string;
};

type Source = "kept" | "typed" | "named" | "agent" | "none";

/** Returns "Private key" for "Key", or "Jump private key" for "Jump key". */
const privateKeyLabel = (label: string) =>
  label.replace(/key$/i, (key) => (key === "Key" ? "Private key" : "private key"));

const keyPlaceholder = "-----BEGIN OPENSSH PRIVATE KEY-----";

const storedHelp = "Stored in a file that only Quarterdeck can read. It can't be shown again.";

/** Returns the initial value of a choice. */
function valueFor(source: Source, kept: string | null): unknown {
  switch (source) {
    case "kept":
      return kept;
    case "typed":
      return { secret: "" };
    case "named":
      return "";
    case "agent":
      return "agent";
    case "none":
      return null;
  }
}

const textOf = (value: unknown): string => {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null && "secret" in value
    ? String(value.secret)
    : "";
};

export function SecretField({
  name,
  label,
  emptyText,
  placeholder,
  help,
  isKey = false,
  text: lines = isKey ? { label: privateKeyLabel(label), placeholder: keyPlaceholder } : undefined,
  none,
}: SecretFieldProps) {
  const { field, formState } = useController<EntryValues>({ name });
  const own = useFieldError(name);
  const inner = useFieldError(`${name}.secret`);
  // The value in the file, until another one is chosen.
  const stored: unknown = name
    .split(".")
    .reduce<unknown>(
      (value, key) =>
        typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined,
      formState.defaultValues,
    );
  const kept = typeof stored === "string" && stored !== "" ? stored : null;
  const without = none === undefined ? "typed" : "none";
  const [source, setSource] = useState<Source>(kept === null ? without : "kept");
  const choose = (next: Source) => {
    setSource(next);
    field.onChange(valueFor(next, kept));
  };
  const text = textOf(field.value);
  const options: [Source, string][] = [
    ...(none === undefined ? [] : ([["none", none]] satisfies [Source, string][])),
    ...(kept === null ? [] : ([["kept", secretWords(kept)]] satisfies [Source, string][])),
    ["typed", kept === null ? "Enter it here" : "Replace it"],
    ["named", "Name a variable or file"],
    ...(isKey && kept !== "agent" ? ([["agent", "SSH agent"]] satisfies [Source, string][]) : []),
  ];
  // An empty field has one error text, whatever the schema reports.
  const error = text === "" && (inner ?? own) !== undefined ? emptyText : (inner ?? own);
  const shared = { value: text, onBlur: field.onBlur, ref: field.ref };
  return (
    <>
      <Field
        label={label}
        help={
          source === "kept" && kept?.startsWith("file:secrets/")
            ? "It can't be shown. Choose “Replace it” to type a new one."
            : undefined
        }
      >
        {(aria) => (
          <Select
            {...aria}
            value={source}
            onChange={({ target }) =>
              choose(options.find(([value]) => value === target.value)?.[0] ?? "typed")
            }
          >
            {options.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {source === "typed" && (
        <Field
          label={lines?.label ?? `${label} to store`}
          error={error}
          help={
            <>
              {help} {storedHelp}
            </>
          }
        >
          {(aria) =>
            lines !== undefined ? (
              <textarea
                {...aria}
                {...shared}
                rows={5}
                autoComplete="off"
                spellCheck={false}
                placeholder={lines.placeholder}
                onChange={({ target }) => field.onChange({ secret: target.value })}
                className={`${controlClass} h-auto py-2 font-mono text-sm`}
              />
            ) : (
              <Input
                {...aria}
                {...shared}
                type="password"
                autoComplete="new-password"
                isCode
                placeholder={placeholder}
                onChange={({ target }) => field.onChange({ secret: target.value })}
              />
            )
          }
        </Field>
      )}
      {source === "named" && (
        <Field
          label={`${label} reference`}
          error={error === emptyText ? "Enter env:NAME or file:PATH." : error}
          help="env:NAME is a variable of Quarterdeck's environment, file:PATH a file that it can read."
        >
          {(aria) => (
            <Input
              {...aria}
              {...shared}
              isCode
              placeholder="env:SHOP_DATABASE_URL"
              onChange={({ target }) => field.onChange(target.value)}
            />
          )}
        </Field>
      )}
    </>
  );
}
