// Finds the scheduled times of a calendar. A wall time is in milliseconds, as if it were UTC, where no time is skipped
// or repeated.
import { readCron } from "./cron.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** The longest gap in a schedule: eight years between two leap days where a year like 2100 has none. */
const longestGapDays = 8 * 366 + 1;

export type Calendar = {
  /** The first scheduled wall time after `wall`; null = there is none. */
  next(wall: number): number | null;
  /** The last scheduled wall time before `wall`; null = there is none. */
  previous(wall: number): number | null;
};

const startOfDay = (wall: number) => Math.floor(wall / dayMs) * dayMs;

/** @throws RangeError on an invalid schedule */
export function calendarOf(frequency: string): Calendar {
  const cron = readCron(frequency);
  if (cron.problem !== null) throw new RangeError(cron.problem);
  const { values, isEither } = cron;
  const [minutes, hours, ...dates] = values;
  const [days, months, weekdays] = dates.map((chosen) => new Set(chosen));
  const times = hours
    .flatMap((hour) => minutes.map((minute) => (hour * 60 + minute) * minuteMs))
    .toSorted((a, b) => a - b);

  function isOn(day: number): boolean {
    const date = new Date(day);
    if (!months?.has(date.getUTCMonth() + 1)) return false;
    const weekday = date.getUTCDay();
    const isDay = days?.has(date.getUTCDate()) === true;
    const isWeekday = weekdays?.has(weekday) === true || (weekday === 0 && weekdays?.has(7));
    return isEither ? isDay || isWeekday === true : isDay && isWeekday === true;
  }

  /** @param direction 1 = towards the future, -1 = towards the past */
  function walk(wall: number, direction: 1 | -1, pick: (day: number) => number | undefined) {
    let day = startOfDay(wall);
    for (let walked = 0; walked <= longestGapDays; walked++, day += direction * dayMs) {
      const time = isOn(day) ? pick(day) : undefined;
      if (time !== undefined) return day + time;
    }
    return null;
  }

  return {
    next: (wall) => walk(wall, 1, (day) => times.find((time) => day + time > wall)),
    previous: (wall) => walk(wall, -1, (day) => times.findLast((time) => day + time < wall)),
  };
}
