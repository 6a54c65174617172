// A schedule in words. Apart from the grammar and the moments, so that who needs only those does not load cronstrue.
import cronstrue from "cronstrue";
import { readCron } from "./cron.ts";

const say = (frequency: string, verbose = false) =>
  cronstrue.toString(frequency, { use24HourTimeFormat: true, verbose });

/**
 * Day and weekday both chosen mean either, which cronstrue words as "and" or not at all; so each is said alone, and
 * they are joined here.
 */
function sayEither([minute, hour, day, month, weekday]: string[]): string {
  const time = say(`${minute} ${hour} * * *`);
  const alone = (date: string) => say(`${minute} ${hour} ${date}`).slice(time.length);
  const onWeekday = alone(`* * ${weekday}`).replace(/^, (only )?/, "");
  return `${time}${alone(`${day} * *`)} or ${onWeekday}${alone(`* ${month} *`)}`;
}

/** E.g. "At 02:30, every day"; the schedule itself where there are no words for it. */
export function scheduleText(frequency: string): string {
  const fields = frequency.trim().split(/\s+/);
  // Cron takes a * among others in a list; cronstrue makes "undefined" of it.
  if (fields.some((field) => field !== "*" && field.split(",").includes("*"))) return frequency;
  try {
    const cron = readCron(frequency);
    if (cron.problem === null && cron.isEither) return sayEither(fields);
    // Said of an interval, "every hour, every day" would only repeat itself.
    return say(frequency, !fields[1]?.startsWith("*"));
  } catch {
    return frequency;
  }
}
