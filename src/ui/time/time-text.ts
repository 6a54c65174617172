// Formats times and durations. The browser's formatters are used only where few are shown at once: creating the first
// one takes 28 ms.
import { countOf } from "../../../contract/count-text.ts";

/** English, like the text around a date, with the day first and 24 hours; the time zone is the viewer's. */
export const dateLocale = "en-GB";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const steps = [
  { unit: "day", sizeMs: dayMs },
  { unit: "hour", sizeMs: hourMs },
  { unit: "minute", sizeMs: minuteMs },
] as const;

/** "1 minute", "3 hours"; null = less than a minute. */
function spanOf(ms: number): string | null {
  const step = steps.find(({ sizeMs }) => ms >= sizeMs);
  return step === undefined ? null : countOf(Math.floor(ms / step.sizeMs), step.unit);
}

/**
 * "3 minutes ago"; "just now" for any time less than a minute away, because clocks differ by as much. What happened later than now
 * was dated by a clock that has been set back since.
 */
export function relativeText(momentMs: number, nowMs: number): string {
  const agoMs = nowMs - momentMs;
  const span = spanOf(Math.abs(agoMs));
  if (span === null) return "just now";
  return agoMs > 0 ? `${span} ago` : "in the future";
}

/** "in 2 hours", "in under a minute", for what is still to come; "3 minutes ago" for what is overdue. */
export function comingText(momentMs: number, nowMs: number): string {
  const awayMs = momentMs - nowMs;
  const span = spanOf(Math.abs(awayMs)) ?? "under a minute";
  return awayMs > -minuteMs ? `in ${span}` : `${span} ago`;
}

/** "12 s", "3 min", "2 h 5 min", "4 d 3 h": in at most two units. */
export function durationText(ms: number): string {
  const clampedMs = Math.max(0, ms);
  const days = Math.floor(clampedMs / dayMs);
  const hours = Math.floor((clampedMs % dayMs) / hourMs);
  const minutes = Math.floor((clampedMs % hourMs) / minuteMs);
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`;
  if (minutes > 0) return `${minutes} min`;
  return `${Math.floor(clampedMs / 1000)} s`;
}

let local: Intl.DateTimeFormat | undefined;

/** Formats the moment in the viewer's time zone and in UTC. */
export function absoluteText(moment: Date): string {
  local ??= new Intl.DateTimeFormat(dateLocale, { dateStyle: "medium", timeStyle: "medium" });
  return `${local.format(moment)} · ${moment.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
