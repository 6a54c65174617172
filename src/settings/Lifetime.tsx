import { useState } from "react";
import { toTimestamp } from "../../contract/values.ts";
import { Field } from "../ui/Field.tsx";
import { Select } from "../ui/Select.tsx";
import { lifetimes, momentAfter } from "./token-facts.ts";

type LifetimeProps = {
  /** A timestamp; null = it never ends. */
  value: string | null;
  onChange: (moment: string | null) => void;
  error: string | undefined;
};

const dayText = new Intl.DateTimeFormat(undefined, { dateStyle: "long" });

export function Lifetime({ value, onChange, error }: LifetimeProps) {
  const [days, setDays] = useState<number | null>(null);
  const choose = (next: number | null) => {
    setDays(next);
    const moment = momentAfter(next, Date.now());
    onChange(moment && toTimestamp(moment));
  };
  return (
    <Field
      label="Ends"
      error={error}
      help={
        value === null
          ? "It works until somebody revokes it."
          : `On ${dayText.format(new Date(value))}; from then on it is refused.`
      }
    >
      {(aria) => (
        <Select
          {...aria}
          value={days ?? ""}
          onChange={({ target }) => choose(target.value === "" ? null : Number(target.value))}
        >
          {lifetimes.map(({ days, label }) => (
            <option key={label} value={days ?? ""}>
              {label}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
