import { useClockText } from "./clock.ts";
import { durationText, relativeText } from "./time-text.ts";

type TimeProps = {
  /** ISO 8601. */
  value: string;
  /** How far away the moment is, or how long it has lasted since then. */
  format?: "relative" | "duration";
};

export function Time({ value, format = "relative" }: TimeProps) {
  const momentMs = new Date(value).getTime();
  const text = useClockText((nowMs) =>
    format === "relative" ? relativeText(momentMs, nowMs) : durationText(nowMs - momentMs),
  );
  if (Number.isNaN(momentMs)) return value;
  return (
    <time dateTime={value} className="whitespace-nowrap">
      {text}
    </time>
  );
}
