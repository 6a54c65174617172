// Human-readable schedules. A separate file, so that code which needs only the grammar or the times does not load
// cronstrue.
import cronstrue from "cronstrue";
import { readCron } from "./cron.ts";

const say = (frequency: string, verbose = false) =>
  cronstrue.toString(frequency, { use24HourTimeFormat: true, verbose });

/**
 * Describes a schedule that restricts both day and weekday, where either may match. cronstrue joins them by "and" or
 * drops one, so each is described alone.
 */
function sayEither([minute, hour, day, month, weekday]: string[]): string {
  const time = say(`${minute} ${hour} * * *`);
  const alone = (date: string) => say(`${minute} ${hour} ${date}`).slice(time.length);
  const onWeekday = alone(`* * ${weekday}`).replace(/^, (only )?/, "");
  return `${time}${alone(`${day} * *`)} or ${onWeekday}${alone(`* ${month} *`)}`;
}

/** E.g. "At 02:30, every day"; the schedule itself where it cannot be described. */
export function scheduleText(frequency: string): string {
  const fields = frequency.trim().split(/\s+/);
  // Cron accepts a * as an item of a list, which cronstrue turns into "undefined".
  if (fields.some((field) => field !== "*" && field.split(",").includes("*"))) return frequency;
  try {
    const cron = readCron(frequency);
    if (cron.problem === null && cron.isEither) return sayEither(fields);
    // For an interval, "every hour, every day" would be redundant.
    return say(frequency, !fields[1]?.startsWith("*"));
  } catch {
    return frequency;
  }
}
