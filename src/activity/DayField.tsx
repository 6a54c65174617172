// A date field, whose value takes effect once it is complete.
import { useLayoutEffect, useRef } from "react";
import { Field } from "../ui/form/Field.tsx";
import { Input } from "../ui/form/Input.tsx";
import { isDay } from "./filter.ts";

type DayFieldProps = {
  label: string;
  /** "2026-01-31"; undefined = any. */
  day: string | undefined;
  min?: string | undefined;
  max?: string | undefined;
  onChange: (day: string) => void;
};

export function DayField({ label, day = "", min, max, onChange }: DayFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  // Setting the value while a year is being typed would lose its first digits.
  useLayoutEffect(() => {
    if (input.current !== null && input.current.value !== day) input.current.value = day;
  }, [day]);
  return (
    <div className="min-w-0">
      <Field label={label}>
        {(aria) => (
          <Input
            {...aria}
            ref={input}
            type="date"
            min={min}
            max={max}
            onChange={({ target: { value } }) => {
              if (value === "" ? day !== "" : isDay(value)) onChange(value);
            }}
          />
        )}
      </Field>
    </div>
  );
}
