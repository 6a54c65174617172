// Formats moments in a time zone.
import { dateLocale } from "../ui/time/time-text.ts";

export const viewersZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * E.g. "Sun, 29 Mar, 03:00".
 * @param timeZone IANA name
 */
export const momentInZone = (moment: Date, timeZone: string): string =>
  new Intl.DateTimeFormat(dateLocale, {
    timeZone,
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).format(moment);
