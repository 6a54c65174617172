// Groups the timeline by days in the viewer's time zone.
import type { ActivityEntry } from "../../contract/activity.ts";
import { dateLocale } from "../ui/time/time-text.ts";

export type Day = { startMs: number; entries: ActivityEntry[] };

/** Returns the midnight before a moment, in the viewer's time zone. */
export const dayStartMs = (moment: Date): number =>
  new Date(moment.getFullYear(), moment.getMonth(), moment.getDate()).getTime();

export function toDays(entries: readonly ActivityEntry[]): Day[] {
  const days: Day[] = [];
  for (const entry of entries) {
    const startMs = dayStartMs(new Date(entry.at));
    const last = days.at(-1);
    if (last?.startMs === startMs) last.entries.push(entry);
    else days.push({ startMs, entries: [entry] });
  }
  return days;
}

const inYear = new Intl.DateTimeFormat(dateLocale, {
  weekday: "long",
  day: "numeric",
  month: "long",
});
const anyYear = new Intl.DateTimeFormat(dateLocale, { dateStyle: "full" });

/** "Today", "Yesterday", "Saturday 31 January". */
export function dayText(startMs: number, nowMs: number): string {
  const now = new Date(nowMs);
  const today = dayStartMs(now);
  if (startMs === today) return "Today";
  // Any moment of the previous day, which may be shorter or longer than 24 hours.
  if (startMs === dayStartMs(new Date(today - 1))) return "Yesterday";
  const day = new Date(startMs);
  return (day.getFullYear() === now.getFullYear() ? inYear : anyYear).format(day);
}
