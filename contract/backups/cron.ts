// Validates schedules: five cron fields, and at least one date that exists.
import * as z from "zod/mini";
import { line } from "../inputs.ts";

/** `steps` is the number of values: a longer step would only ever match the first. */
type Field = { name: string; min: number; max: number; steps: number; names: string[] };

const fields: Field[] = [
  { name: "minute", min: 0, max: 59, steps: 60, names: [] },
  { name: "hour", min: 0, max: 23, steps: 24, names: [] },
  { name: "day", min: 1, max: 31, steps: 31, names: [] },
  {
    name: "month",
    min: 1,
    max: 12,
    steps: 12,
    names: "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" "),
  },
  // Sunday is listed at both ends, so that a range may begin or end with it.
  {
    name: "weekday",
    min: 0,
    max: 7,
    steps: 7,
    names: "SUN MON TUE WED THU FRI SAT SUN".split(" "),
  },
];

/** February has 29 days: a leap day comes within five years, except around a year like 2100. */
const daysIn = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const counts = ["none", "one", "two", "three", "four", "five", "six", "seven"];

/** Returns NaN unless the text is all digits, because `Number` accepts more; every comparison with NaN is false. */
const numberOf = (text: string) => (/^\d+$/.test(text) ? Number(text) : Number.NaN);

/** A number, or a name of the field. */
function valueOf({ min, names }: Field, text: string, isEnd = false): number {
  const place = isEnd ? names.lastIndexOf(text) : names.indexOf(text);
  return place < 0 ? numberOf(text) : min + place;
}

/**
 * Adds the values that a field selects to `chosen`.
 * @returns what is wrong with the field; null = nothing
 */
function fieldProblem(field: Field, text: string, chosen: number[]): string | null {
  const { name, min, max, steps, names } = field;
  for (const item of text.toUpperCase().split(",")) {
    if (item === "") return `The ${name} has an empty item in its list.`;
    const [, from = item, to, step] = /^([^-/]+)(?:-([^-/]+))?(?:\/([^-/]+))?$/.exec(item) ?? [];
    const isAny = from === "*" && to === undefined;
    const first = isAny ? min : valueOf(field, from);
    const last = isAny ? max : to === undefined ? first : valueOf(field, to, true);

    const wrong = [first, last].findIndex((value) => !(value >= min && value <= max));
    if (wrong >= 0) {
      const words = names.length ? ` or ${names[0]} to ${names[steps - 1]}` : "";
      return `The ${name} must be ${min} to ${max}${words}, not ${wrong ? to : from}.`;
    }
    if (first > last) return `The ${name} range ${from}-${to} must start with the smaller value.`;
    if (step !== undefined && !isAny && to === undefined)
      return `The ${name} may have a step only after * or a range: ${from}-${max}/${step}.`;
    const stride = numberOf(step ?? "1");
    if (!(stride >= 1 && stride <= steps))
      return `The ${name} must have a step of 1 to ${steps}, not ${step}.`;
    for (let value = first; value <= last; value += stride) chosen.push(value);
  }
  return null;
}

/** The values that each field selects, in the order of the fields; Sunday is 0 or 7. */
type CronValues = [
  minutes: readonly number[],
  hours: readonly number[],
  days: readonly number[],
  months: readonly number[],
  weekdays: readonly number[],
];

type Cron =
  | { problem: string }
  | {
      problem: null;
      values: CronValues;
      /** Both day and weekday are restricted: a date that matches either one is selected. */
      isEither: boolean;
    };

/** Parses a schedule, even one whose dates never come. A problem is a sentence that names the field. */
export function readCron(text: string): Cron {
  const texts = text.trim().split(/\s+/).filter(Boolean);
  const names = fields.map(({ name }) => name).join(", ");
  if (text.trim().startsWith("@"))
    return {
      problem: `A schedule has five fields, ${names}; ${texts[0]} is not supported.`,
    };
  if (texts.length !== fields.length)
    return {
      problem: `A schedule has five fields: ${names}; this has ${counts[texts.length] ?? texts.length}.`,
    };
  const values: CronValues = [[], [], [], [], []];
  for (const [place, field] of fields.entries()) {
    const chosen: number[] = [];
    const problem = fieldProblem(field, texts[place] ?? "", chosen);
    if (problem) return { problem };
    values[place] = chosen;
  }
  return { problem: null, values, isEither: texts[2] !== "*" && texts[4] !== "*" };
}

/** Returns what is wrong with a schedule, as a sentence that names the field; null = it is valid. */
export function cronProblem(text: string): string | null {
  const cron = readCron(text);
  if (cron.problem !== null) return cron.problem;
  // A weekday comes every week.
  if (cron.isEither) return null;
  const [, , days, months] = cron.values;
  const longest = Math.max(...months.map((month) => daysIn[month - 1] ?? 0));
  const earliest = Math.min(...days);
  return earliest > longest
    ? `The day must be 1 to ${longest} in the chosen months, not ${earliest}.`
    : null;
}

/** Five cron fields, one space between them; read in the server's time zone. */
export const frequency = line(255).check(
  z.overwrite((text) => text.replace(/\s+/g, " ")),
  z.refine((text) => cronProblem(text) === null, {
    error: (issue) => cronProblem(String(issue.input)),
    // A missing or too long text already has an error.
    when: ({ issues }) => issues.length === 0,
  }),
);
