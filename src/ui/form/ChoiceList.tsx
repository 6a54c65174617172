import { useId } from "react";

export type Choice<Value extends string = string> = {
  value: Value;
  label: string;
  help?: string | undefined;
};

type ChoiceListProps<Value extends string> = {
  legend: string;
  options: readonly Choice<Value>[];
  value: Value;
  onChange: (value: Value) => void;
};

/** A radio group whose options have explanations; short options without are shown side by side. */
export function ChoiceList<Value extends string>({
  legend,
  options,
  value,
  onChange,
}: ChoiceListProps<Value>) {
  const group = useId();
  const isShort = options.every(({ help }) => help === undefined);
  return (
    <fieldset className={isShort ? "flex flex-wrap gap-2" : "grid gap-1"}>
      <legend className="mb-1">{legend}</legend>
      {options.map((choice) => (
        <div
          key={choice.value}
          className="relative isolate flex items-start gap-2.5 rounded-md border border-line bg-raised px-3 py-2 has-checked:border-brand"
        >
          <input
            type="radio"
            id={`${group}-${choice.value}`}
            name={group}
            className="relative z-1 mt-0.5 shrink-0"
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
            aria-describedby={
              choice.help === undefined ? undefined : `${group}-${choice.value}-help`
            }
          />
          <div className="grid">
            {/* The whole card is clickable. */}
            <label
              htmlFor={`${group}-${choice.value}`}
              className="text-ink after:absolute after:inset-0"
            >
              {choice.label}
            </label>
            {choice.help !== undefined && (
              <span id={`${group}-${choice.value}-help`} className="text-xs text-muted">
                {choice.help}
              </span>
            )}
          </div>
        </div>
      ))}
    </fieldset>
  );
}
