// An independent oracle: it steps through every minute of a period, reads the wall clock with Intl, and runs what that clock
// shows, or has skipped, for the first time.
import { array, assert, constantFrom, integer, option, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import { cronProblem } from "./cron.ts";
import { nextRuns, previousRun } from "./schedule.ts";

const minuteMs = 60_000;

type Minute = { at: number; wall: number };
type Choice = { text: string; allows: (value: number) => boolean };

const spanDays = 6;

function minutesOf(timeZone: string, first: string): Minute[] {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "short",
  });
  return Array.from({ length: spanDays * 24 * 60 }, (_, minute) => {
    const at = Date.parse(first) + minute * minuteMs;
    return { at, wall: Date.parse(`${format.format(at).replace(" ", "T")}Z`) };
  });
}

const spans = (
  [
    ["Europe/Berlin", "2026-03-26T00:00Z"],
    ["Europe/Berlin", "2026-10-22T00:00Z"],
    ["America/Santiago", "2026-09-03T00:00Z"],
    ["America/Santiago", "2026-04-02T00:00Z"],
    ["Africa/Cairo", "2026-04-21T00:00Z"],
    ["Africa/Cairo", "2026-10-27T00:00Z"],
    ["Asia/Beirut", "2026-03-26T00:00Z"],
    ["Australia/Lord_Howe", "2026-10-01T00:00Z"],
    ["Australia/Lord_Howe", "2026-04-02T00:00Z"],
    ["Africa/Casablanca", "2026-02-13T00:00Z"],
    ["Asia/Kathmandu", "2026-02-26T00:00Z"],
    ["UTC", "2028-02-26T00:00Z"],
  ] as const
).map(([timeZone, first]) => ({ timeZone, minutes: minutesOf(timeZone, first) }));

function oracle(minutes: Minute[], [minute, hour, day, month, weekday]: Choice[]): number[] {
  const matches = (wall: number) => {
    const date = new Date(wall);
    const onDay = day?.allows(date.getUTCDate());
    const onWeekday = weekday?.allows(date.getUTCDay());
    const isEither = day?.text !== "*" && weekday?.text !== "*";
    return (
      minute?.allows(date.getUTCMinutes()) &&
      hour?.allows(date.getUTCHours()) &&
      month?.allows(date.getUTCMonth() + 1) &&
      (isEither ? onDay || onWeekday : onDay && onWeekday)
    );
  };
  const runs: number[] = [];
  let shown = (minutes[0]?.wall ?? 0) - minuteMs;
  for (const { at, wall } of minutes) {
    let isDue = false;
    for (; shown < wall; shown += minuteMs) isDue = matches(shown + minuteMs) || isDue;
    if (isDue) runs.push(at);
  }
  return runs;
}

/** One field: any value, a step, or a list of values and ranges, with the values that it allows. */
const choice = (least: number, most: number, likely: number[]) => {
  const value = constantFrom(...likely);
  const range = tuple(
    integer({ min: least, max: most }),
    integer({ min: 0, max: 5 }),
    integer({ min: 1, max: 3 }),
  );
  const list = tuple(array(value, { minLength: 1, maxLength: 3 }), option(range, { freq: 3 }));
  return tuple(
    constantFrom("any", "any", "step", "list", "list"),
    integer({ min: 1, max: most }),
    list,
  ).map(([kind, step, [values, more]]): Choice => {
    if (kind === "any") return { text: "*", allows: () => true };
    if (kind === "step")
      return { text: `*/${step}`, allows: (found) => (found - least) % step === 0 };
    if (!more) return { text: values.join(","), allows: (found) => values.includes(found) };
    const [from, length, stride] = more;
    const to = Math.min(from + length, most);
    return {
      text: `${values.join(",")},${from}-${to}/${stride}`,
      allows: (found) =>
        values.includes(found) || (found >= from && found <= to && (found - from) % stride === 0),
    };
  });
};

const anySchedule = tuple(
  choice(0, 59, [0, 15, 29, 30, 45, 59]),
  choice(0, 23, [0, 1, 2, 3, 23]),
  choice(1, 31, [1, 4, 5, 6, 24, 25, 28, 29, 31]),
  choice(1, 12, [2, 3, 4, 9, 10]),
  choice(0, 6, [0, 1, 5, 6]),
);

test("finds exactly the runs that the wall clock reaches", () => {
  let compared = 0;
  assert(
    property(
      anySchedule,
      constantFrom(...spans),
      integer({ min: 0, max: 4319 }),
      (fields, span, begin) => {
        const frequency = fields.map(({ text }) => text).join(" ");
        if (cronProblem(frequency) !== null) return;
        const runs = oracle(span.minutes, fields);
        const after = span.minutes[begin]?.at ?? 0;
        const end = span.minutes.at(-1)?.at ?? 0;
        const expected = runs.filter((run) => run > after).slice(0, 120);
        const found = nextRuns(frequency, span.timeZone, new Date(after), expected.length + 1)
          .map((run) => run.getTime())
          .filter((run) => run <= end);
        expect(found.slice(0, expected.length)).toEqual(expected);
        if (expected.length < 120) expect(found).toHaveLength(expected.length);

        const earlier = runs.findLast((run) => run < after);
        if (earlier)
          expect(previousRun(frequency, span.timeZone, new Date(after))?.getTime()).toBe(earlier);
        compared += expected.length;
      },
    ),
    { numRuns: 400 },
  );
  // Most schedules must run within the period, or the test compares nothing with nothing.
  expect(compared).toBeGreaterThan(2_000);
});
