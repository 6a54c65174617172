import { Field } from "../ui/form/Field.tsx";
import { Select } from "../ui/form/Select.tsx";

export type Option = { value: string; label: string };

type ChoiceProps = {
  label: string;
  all: string;
  /** Shown instead of the options while there are none. */
  hint?: string | undefined;
  options: readonly Option[];
  value: string | number | undefined;
  onChange: (value: string) => void;
};

export function Choice({ label, all, hint, options, value = "", onChange }: ChoiceProps) {
  return (
    <div className="min-w-0">
      <Field label={label}>
        {(aria) => (
          <Select {...aria} value={value} onChange={(event) => onChange(event.target.value)}>
            <option value="">{all}</option>
            {hint !== undefined && (
              <option value="hint" disabled>
                {hint}
              </option>
            )}
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </div>
  );
}
