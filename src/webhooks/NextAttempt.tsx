import { useClockText } from "../ui/time/clock.ts";
import { comingText } from "../ui/time/time-text.ts";

const minuteMs = 60_000;

/** Shows "in 4 s" where other texts say "just now", because users wait for it. */
function textOf(awayMs: number, momentMs: number, nowMs: number): string {
  if (awayMs <= 0) return "due";
  return awayMs < minuteMs ? `in ${Math.ceil(awayMs / 1000)} s` : comingText(momentMs, nowMs);
}

/** When a delivery is retried. */
export function NextAttempt({ value }: { value: string }) {
  const moment = new Date(value);
  const momentMs = moment.getTime();
  const text = useClockText((nowMs) => textOf(momentMs - nowMs, momentMs, nowMs));
  return (
    <time dateTime={value} className="whitespace-nowrap">
      {text}
    </time>
  );
}
