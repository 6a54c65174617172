import { useClockText } from "./clock.ts";
import { durationText, relativeText, soonText } from "./time-text.ts";

type TimeProps = {
  /** ISO 8601. */
  value: string;
  /** The distance from now, or the duration since then. */
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
