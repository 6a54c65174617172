// When a schedule runs: converts the wall times of its calendar to moments of a time zone. Each wall time runs once. A
// time that occurs twice runs at the first occurrence; a skipped time runs at the first minute after the gap, as the
// same run as any other that falls there.
import { type Calendar, calendarOf } from "./calendar.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** No time zone has put its clocks back by more, except those that crossed the date line. */
const longestSetbackMs = 3 * hourMs;

/** More than any offset from UTC, and less than the time between two changes of an offset. */
const surelyMs = 36 * hourMs;

const horizonYears = 5;

/** Cached, because creating a formatter takes longer than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns how far the clocks of a time zone are ahead of UTC at a moment, in milliseconds. */
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

/**
 * Returns the first minute at which the offset of `until` applies; the offset at `from` is another one. Both are whole
 * minutes.
 */
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

/** Returns the moment at which a wall time (given as if it were UTC) runs. */
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
  // Repeats only while the clocks show times that they have shown before.
  while ((wall = calendar.next(wall)) !== null) {
    const run = new Date(momentOf(wall, timeZone));
    if (run > after) return run <= latest ? run : null;
  }
  return null;
}

/**
 * Returns the moments after `after` at which a schedule runs in an IANA time zone, oldest first. Fewer than `count`
 * where the next would be more than five years after the one before it.
 * @throws RangeError on an invalid schedule or time zone
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

/** Returns the first moment after `after` at which the schedule runs; null = none within five years. */
export const nextRun = (frequency: string, timeZone: string, after: Date): Date | null =>
  runAfter(calendarOf(frequency), timeZone, after);

/** Returns the last moment before `before` at which the schedule ran, or would have run. */
export function previousRun(frequency: string, timeZone: string, before: Date): Date | null {
  const calendar = calendarOf(frequency);
  const at = before.getTime();
  // Clocks that were put back shortly before have shown later times than the present one.
  const maxOffsetMs = Math.max(offsetMs(at, timeZone), offsetMs(at - longestSetbackMs, timeZone));
  let wall: number | null = Math.ceil((at + maxOffsetMs) / minuteMs) * minuteMs;
  while ((wall = calendar.previous(wall)) !== null) {
    const run = new Date(momentOf(wall, timeZone));
    if (run < before) return run;
  }
  return null;
}

/** Returns the milliseconds between `due`, a moment at which the schedule runs, and the run before it. */
export function expectedGapMs(frequency: string, timeZone: string, due: Date): number {
  const previous = previousRun(frequency, timeZone, due);
  // A valid schedule always has a previous run. Otherwise, the gap is so long that no run is late.
  return previous ? due.getTime() - previous.getTime() : horizonYears * 366 * dayMs;
}

const dayOf = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
const timeOf = (wall: number | Date) => new Date(wall).toISOString().slice(11, 16);

/** Describes the scheduled wall times from `from` up to `until`. */
function runsWithin(calendar: Calendar, from: number, until: number): string | null {
  const first = calendar.next(from - minuteMs);
  const last = calendar.previous(until);
  if (first === null || last === null || first >= until) return null;
  return first < last
    ? `the runs of ${timeOf(first)} to ${timeOf(last)} happen once, at`
    : `the run of ${timeOf(first)} happens at`;
}

/**
 * Returns a sentence about the first change of the clocks within a year that moves or repeats a run; null = every run
 * is at its usual time. A skipped run that coincides with another run is not mentioned.
 */
export function clockChangeNote(frequency: string, timeZone: string, after: Date): string | null {
  const calendar = calendarOf(frequency);
  const start = Math.floor(after.getTime() / minuteMs) * minuteMs;
  // The two closest changes are Morocco's around Ramadan, a month apart.
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
