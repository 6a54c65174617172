import { useClockText } from "./clock.ts";
import { durationText, relativeText, soonText } from "./time-text.ts";

type TimeProps = {
  /** ISO 8601. */
  value: string;
  /** How far away the moment is, the same of one that is to come, or how long it has lasted since then. */
  format?: "relative" | "coming" | "duration";
};

export function Time({ value, format = "relative" }: TimeProps) {
  const momentMs = new Date(value).getTime();
  const text = useClockText((nowMs) =>
    format === "duration"
      ? durationText(nowMs - momentMs)
      : relativeText(momentMs, nowMs, format === "coming" ? soonText : undefined),
  );
  if (Number.isNaN(momentMs)) return value;
  return (
    <time dateTime={value} className="whitespace-nowrap">
      {text}
    </time>
  );
}
