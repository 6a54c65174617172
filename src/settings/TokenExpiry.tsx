import { useState } from "react";
import { toTimestamp } from "../../contract/values.ts";
import { Field } from "../ui/form/Field.tsx";
import { Select } from "../ui/form/Select.tsx";
import { dateLocale } from "../ui/time/time-text.ts";
import { serviceNow } from "../service-clock.ts";
import { expiryOptionsUntil, momentAfter } from "./token-facts.ts";

type TokenExpiryProps = {
  /** A timestamp; undefined = the same as the token that creates it. */
  value: string | undefined;
  onChange: (moment: string | undefined) => void;
  /** When the token that creates it expires; null = never. */
  latest: string | null;
  error: string | undefined;
};

const dayText = new Intl.DateTimeFormat(dateLocale, { dateStyle: "long" });

export function TokenExpiry({ value, onChange, latest, error }: TokenExpiryProps) {
  const [days, setDays] = useState<number | null>(null);
  const [openedMs] = useState(() => serviceNow());
  const choose = (next: number | null) => {
    setDays(next);
    const moment = momentAfter(next, serviceNow());
    onChange(moment === null ? undefined : toTimestamp(moment));
  };
  return (
    <Field
      label="Expires"
      error={error}
      help={
        value !== undefined
          ? `The token stops working on ${dayText.format(new Date(value))}.`
          : latest === null
            ? "The token works until you revoke it."
            : `The token stops working on ${dayText.format(new Date(latest))}, with the token you are using. A token can't outlive the token that created it.`
      }
    >
      {(aria) => (
        <Select
          {...aria}
          value={days ?? ""}
          onChange={({ target }) => choose(target.value === "" ? null : Number(target.value))}
        >
          {expiryOptionsUntil(latest, openedMs).map(({ days, label }) => (
            <option key={label} value={days ?? ""}>
              {label}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
