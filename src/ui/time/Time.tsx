import { useClockText } from "./clock.ts";
import { comingText, durationText, relativeText } from "./time-text.ts";

type TimeProps = {
  /** ISO 8601. */
  value: string;
  /** `relative`: how long ago it was; `coming`: how far ahead it is; `duration`: how long it has lasted. */
  format?: keyof typeof formats;
};

const formats = {
  relative: relativeText,
  coming: comingText,
  duration: (momentMs: number, nowMs: number) => durationText(nowMs - momentMs),
};

export function Time({ value, format = "relative" }: TimeProps) {
  const momentMs = new Date(value).getTime();
  const text = useClockText((nowMs) => formats[format](momentMs, nowMs));
  if (Number.isNaN(momentMs)) return value;
  return (
    <time dateTime={value} className="whitespace-nowrap">
      {text}
    </time>
  );
}
