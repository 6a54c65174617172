import { useClockText } from "../ui/clock.ts";
import { relativeText } from "../ui/time-text.ts";
import { dayStartMs } from "./days.ts";

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });

/** How long ago it was; below the heading of an earlier day that would say nothing, and the hour does. */
export function EntryTime({ value }: { value: string }) {
  const moment = new Date(value);
  const text = useClockText((nowMs) =>
    dayStartMs(moment) === dayStartMs(new Date(nowMs))
      ? relativeText(moment.getTime(), nowMs)
      : clock.format(moment),
  );
  return (
    <time dateTime={value} className="whitespace-nowrap">
      {text}
    </time>
  );
}
