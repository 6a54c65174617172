// The recipients of a storage provider's backups, and the identity for drills.
import { get, useFormContext, useFormState, useWatch } from "react-hook-form";
import { DocsLink } from "../../ui/text/DocsLink.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { controlClass } from "../../ui/form/control-class.ts";
import type { EntryValues } from "./entry-form.ts";
import { SecretField } from "./SecretField.tsx";

/** Returns the error of a list, or of its first invalid item. */
function useListError(name: string): string | undefined {
  const { errors } = useFormState<EntryValues>();
  const found: unknown = get(errors, name);
  const all: unknown[] = Array.isArray(found) ? found : [found];
  const first = all.find((error) => typeof get(error, "message") === "string");
  return first === undefined ? undefined : String(get(first, "message"));
}

export function EncryptionFields() {
  const { register } = useFormContext<EntryValues>();
  const recipients = useWatch<EntryValues>({ name: "recipients" });
  const error = useListError("recipients");
  return (
    <>
      <div className="sm:col-span-2">
        <Field
          label="Recipients"
          error={error}
          help={
            <>
              Public keys of age, one a line. New backups here are encrypted to all of them; only
              the private keys open them. Leave empty to store backups unencrypted.{" "}
              <DocsLink page="backups">How encryption works</DocsLink>
            </>
          }
        >
          {(aria) => (
            <textarea
              {...aria}
              {...register("recipients")}
              rows={2}
              spellCheck={false}
              autoCapitalize="none"
              placeholder="age1…"
              className={`${controlClass} h-auto py-2 font-mono text-sm`}
            />
          )}
        </Field>
      </div>
      {typeof recipients === "string" && recipients.trim() !== "" && (
        <SecretField
          name="drill_identity"
          label="Drill identity"
          none="None: drills only verify"
          emptyText="Enter a private key of age."
          placeholder="AGE-SECRET-KEY-1…"
          help="A private key that restore drills decrypt with. Without one, drills only verify the stored file."
        />
      )}
    </>
  );
}
