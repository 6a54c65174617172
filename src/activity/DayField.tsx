// A day that is chosen from the calendar or typed, and is in force once all of it is there.
import { useLayoutEffect, useRef } from "react";
import { Field } from "../ui/Field.tsx";
import { Input } from "../ui/Input.tsx";
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
  // The browser keeps what is being typed: to set the value between two digits of a year loses the first of them.
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
