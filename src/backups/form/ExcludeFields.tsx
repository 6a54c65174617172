// The fields for what backups of a site's folder exclude.
import { useController, useFormContext, useWatch } from "react-hook-form";
import { excludePresets } from "../../../contract/backups/exclude-patterns.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Checkbox } from "../../ui/form/Checkbox.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { controlClass } from "../../ui/form/control-class.ts";
import type { ConfigurationFormValues } from "./configuration-form.ts";

/** Renders nothing for a database. */
export function ExcludeFields() {
  const { register } = useFormContext<ConfigurationFormValues>();
  const type = useWatch<ConfigurationFormValues, "backupable_type">({ name: "backupable_type" });
  const { field, fieldState, formState } = useController<ConfigurationFormValues, "exclude">({
    name: "exclude",
  });
  if (type !== "site") return null;
  const lines = field.value ?? [];
  const change = (next: readonly string[]) =>
    field.onChange(next.every((line) => line === "") ? null : [...next]);
  const add = (preset: readonly string[]) =>
    change([
      ...lines.filter((line) => line !== ""),
      ...preset.filter((line) => !lines.includes(line)),
    ]);
  // Errors of patterns are shown by line; the first one suffices.
  const wrong = formState.errors.exclude;
  const message =
    fieldState.error?.message ??
    (Array.isArray(wrong) ? wrong.find((one) => one !== undefined)?.message : undefined);
  return (
    <div className="grid gap-3 sm:col-span-2">
      <Field
        label="Exclude"
        help="Patterns of files and folders to exclude, one on each line, as in .gitignore. A restore doesn't change them."
        error={message}
      >
        {(aria) => (
          <textarea
            {...aria}
            ref={field.ref}
            name={field.name}
            onBlur={field.onBlur}
            value={lines.join("\n")}
            onChange={({ target }) => change(target.value.split("\n"))}
            rows={Math.min(12, Math.max(3, lines.length + 1))}
            spellCheck={false}
            autoCapitalize="none"
            className={`${controlClass} h-auto py-2 font-mono text-xs`}
          />
        )}
      </Field>
      <div className="flex flex-wrap items-center gap-2">
        {Object.entries(excludePresets).map(([name, preset]) => (
          <Button key={name} size="sm" onClick={() => add(preset)}>
            Add {name} patterns
          </Button>
        ))}
      </div>
      <Field
        label="Exclude caches"
        layout="beside"
        help="The content of folders that have a CACHEDIR.TAG."
      >
        {(aria) => <Checkbox {...aria} {...register("exclude_caches")} />}
      </Field>
    </div>
  );
}
