// When a schedule runs: the calendar's wall times as moments of a zone, by one rule for every schedule. Each time on the
// wall clock runs once. One that occurs twice runs at the first; one that is skipped runs at the first minute after the
// gap, and is the same run as any other that falls there.
import { type Calendar, calendarOf } from "./calendar.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** No zone puts its clocks back by more, but for those that once crossed the date line. */
const longestSetbackMs = 3 * hourMs;

/** This far from a wall time taken as UTC it is surely before and after it anywhere; no zone changes twice so soon. */
const surelyMs = 36 * hourMs;

const horizonYears = 5;

/** A formatter takes longer to make than to use. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the clocks of a zone are ahead of UTC at a moment, in milliseconds. */
function offsetMs(at: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
    formats.set(timeZone, format);
  }
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(format.format(at)) ?? [];
  const size = Number(hours ?? 0) * hourMs + Number(minutes ?? 0) * minuteMs;
  return sign === "-" ? -size : size;
}

/** The first minute of the offset that holds at `until`; at `from` another one holds. Both are whole minutes. */
function changeBetween(from: number, until: number, timeZone: string): number {
  const after = offsetMs(until, timeZone);
  let [before, changed] = [from, until];
  while (changed - before > minuteMs) {
    const middle = Math.floor((before + changed) / 2 / minuteMs) * minuteMs;
    if (offsetMs(middle, timeZone) === after) changed = middle;
    else before = middle;
  }
  return changed;
}

/** The moment at which a wall time, taken as UTC, runs. */
function momentOf(wall: number, timeZone: string): number {
  const before = offsetMs(wall - surelyMs, timeZone);
  const after = offsetMs(wall + surelyMs, timeZone);
  const first = wall - Math.max(before, after);
  const second = wall - Math.min(before, after);
  if (first === second) return first;
  if (first + offsetMs(first, timeZone) === wall) return first;
  if (second + offsetMs(second, timeZone) === wall) return second;
  return changeBetween(first, second, timeZone);
}

function runAfter(calendar: Calendar, timeZone: string, after: Date): Date | null {
  const latest = new Date(after);
  latest.setUTCFullYear(latest.getUTCFullYear() + horizonYears);
  const shown = after.getTime() + offsetMs(after.getTime(), timeZone);
  let wall: number | null = Math.floor(shown / minuteMs) * minuteMs;
  // More than one round only while the clocks show what they have shown before.
  while ((wall = calendar.next(wall)) !== null) {
    const run = new Date(momentOf(wall, timeZone));
    if (run > after) return run <= latest ? run : null;
  }
  return null;
}

/**
 * The moments after `after` at which a valid schedule runs in an IANA time zone, oldest first. Fewer than `count` where
 * the next would be more than five years after the one before it. Throws on a schedule or zone that is not one.
 */
export function nextRuns(frequency: string, timeZone: string, after: Date, count: number): Date[] {
  const calendar = calendarOf(frequency);
  const runs: Date[] = [];
  while (runs.length < count) {
    const run = runAfter(calendar, timeZone, runs.at(-1) ?? after);
    if (!run) break;
    runs.push(run);
  }
  return runs;
}

/** The first moment after `after` at which the schedule runs; null = none within five years. */
export const nextRun = (frequency: string, timeZone: string, after: Date): Date | null =>
  runAfter(calendarOf(frequency), timeZone, after);

/** The last moment before `before` at which the schedule ran, or would have. */
export function previousRun(frequency: string, timeZone: string, before: Date): Date | null {
  const calendar = calendarOf(frequency);
  const at = before.getTime();
  // Clocks that were put back a moment ago have shown more than they show now.
  const maxOffsetMs = Math.max(offsetMs(at, timeZone), offsetMs(at - longestSetbackMs, timeZone));
  let wall: number | null = Math.ceil((at + maxOffsetMs) / minuteMs) * minuteMs;
  while ((wall = calendar.previous(wall)) !== null) {
    const run = new Date(momentOf(wall, timeZone));
    if (run < before) return run;
  }
  return null;
}

/** Milliseconds between `due`, a moment at which the schedule runs, and the one before it. */
export function expectedGapMs(frequency: string, timeZone: string, due: Date): number {
  const previous = previousRun(frequency, timeZone, due);
  // A valid schedule has always run before. Without that, nothing is to be called late.
  return previous ? due.getTime() - previous.getTime() : horizonYears * 366 * dayMs;
}

const dayOf = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
const timeOf = (wall: number | Date) => new Date(wall).toISOString().slice(11, 16);

/** The scheduled wall times from `from` up to `until`, in words. */
function runsWithin(calendar: Calendar, from: number, until: number): string | null {
  const first = calendar.next(from - minuteMs);
  const last = calendar.previous(until);
  if (first === null || last === null || first >= until) return null;
  return first < last
    ? `the runs of ${timeOf(first)} to ${timeOf(last)} happen once, at`
    : `the run of ${timeOf(first)} happens at`;
}

/**
 * What the first change of the clocks within a year that moves or doubles a run does to it, as a sentence; null = every
 * run is at the time it says. A skipped run that falls on a scheduled one is not worth a sentence.
 */
export function clockChangeNote(frequency: string, timeZone: string, after: Date): string | null {
  const calendar = calendarOf(frequency);
  const start = Math.floor(after.getTime() / minuteMs) * minuteMs;
  // Morocco's two changes around Ramadan are the closest there are, a month apart.
  for (let from = start, until; from < start + 366 * dayMs; from = until) {
    until = from + 7 * dayMs;
    const [before, later] = [offsetMs(from, timeZone), offsetMs(until, timeZone)];
    if (before === later) continue;
    const change = changeBetween(from, until, timeZone);
    const [left, right] = [change + before, change + later];
    const runs = runsWithin(calendar, Math.min(left, right), Math.max(left, right));
    if (!runs) continue;
    const day = dayOf.format(Math.min(left, right));
    if (right < left)
      return `On ${day} clocks go back from ${timeOf(left)} to ${timeOf(right)}: ${runs} the first of the two times.`;
    if (!runsWithin(calendar, right, right + minuteMs))
      return `On ${day} clocks go from ${timeOf(left)} to ${timeOf(right)}: ${runs} ${timeOf(right)}.`;
  }
  return null;
}
