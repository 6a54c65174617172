import { useState } from "react";
import { toTimestamp } from "../../contract/values.ts";
import { Field } from "../ui/Field.tsx";
import { Select } from "../ui/Select.tsx";
import { lifetimesUntil, momentAfter } from "./token-facts.ts";

type LifetimeProps = {
  /** A timestamp; undefined = as long as the token that makes it. */
  value: string | undefined;
  onChange: (moment: string | undefined) => void;
  /** When the token that makes it ends; null = never. */
  latest: string | null;
  error: string | undefined;
};

const dayText = new Intl.DateTimeFormat(undefined, { dateStyle: "long" });

export function Lifetime({ value, onChange, latest, error }: LifetimeProps) {
  const [days, setDays] = useState<number | null>(null);
  const [openedMs] = useState(() => Date.now());
  const choose = (next: number | null) => {
    setDays(next);
    const moment = momentAfter(next, Date.now());
    onChange(moment === null ? undefined : toTimestamp(moment));
  };
  return (
    <Field
      label="Ends"
      error={error}
      help={
        value !== undefined
          ? `On ${dayText.format(new Date(value))}; from then on it is refused.`
          : latest === null
            ? "It works until somebody revokes it."
            : `On ${dayText.format(new Date(latest))}, like the token you are using: no token outlives the one it was made with.`
      }
    >
      {(aria) => (
        <Select
          {...aria}
          value={days ?? ""}
          onChange={({ target }) => choose(target.value === "" ? null : Number(target.value))}
        >
          {lifetimesUntil(latest, openedMs).map(({ days, label }) => (
            <option key={label} value={days ?? ""}>
              {label}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
