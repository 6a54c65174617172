// The second storage of a configuration, to which each run is copied.
import { useFormContext, useFormState, useWatch } from "react-hook-form";
import { toNumber } from "../../app/form/form-values.ts";
import { Field } from "../../ui/form/Field.tsx";
import { Select } from "../../ui/form/Select.tsx";
import type { Choice } from "./choices.ts";
import type { ConfigurationFormValues } from "./configuration-form.ts";

const name = "copy_storage_provider_id";

export function CopyToField({ providers }: { providers: readonly Choice[] }) {
  const { register } = useFormContext<ConfigurationFormValues>();
  const { errors } = useFormState<ConfigurationFormValues>({ name });
  const [first, second] = useWatch<ConfigurationFormValues, ["storage_provider_id", typeof name]>({
    name: ["storage_provider_id", name],
  });
  return (
    <Field
      label="Copy to"
      help="A second storage. A run is finished once it is stored in both. Retention counts each storage apart."
      error={errors[name]?.message}
    >
      {(aria) => (
        <Select {...aria} {...register(name, { setValueAs: (value) => toNumber(value) ?? null })}>
          <option value="">No second storage</option>
          {providers
            // The selected storage stays in the list even if it is also the first one, so that the error is visible.
            .filter(({ id }) => id === second || id !== first)
            .map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
        </Select>
      )}
    </Field>
  );
}
