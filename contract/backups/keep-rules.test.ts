import { array, assert, constantFrom, integer, nat, option, property, record } from "fast-check";
import { expect, test } from "vitest";
import { keepInWords, keepPeriods, keepRules, keptBy } from "./keep-rules.ts";
import { nextRuns } from "./schedule.ts";

const hourMs = 3_600_000;
const shown = (moments: readonly Date[], kept: ReturnType<typeof keptBy>) =>
  [...kept.keys()].sort((a, b) => a - b).map((index) => moments[index]?.toISOString().slice(0, 13));

test("keeps the newest run of each week, month and year", () => {
  const nights = nextRuns("30 2 * * *", "UTC", new Date("2025-11-20T00:00:00Z"), 70).toReversed();
  expect(nights[0]?.toISOString()).toBe("2026-01-28T02:30:00.000Z");
  const of = (rules: object) => shown(nights, keptBy(nights, rules, "UTC"));
  expect(of({ daily: 3 })).toEqual(["2026-01-28T02", "2026-01-27T02", "2026-01-26T02"]);
  // Sundays, and the newest backup of the current week.
  expect(of({ weekly: 3 })).toEqual(["2026-01-28T02", "2026-01-25T02", "2026-01-18T02"]);
  expect(of({ monthly: 3 })).toEqual(["2026-01-28T02", "2025-12-31T02", "2025-11-30T02"]);
  expect(of({ yearly: 5 })).toEqual(["2026-01-28T02", "2025-12-31T02"]);
  expect(of({ daily: 1, monthly: 2 })).toEqual(["2026-01-28T02", "2025-12-31T02"]);
  expect(of({ daily: null })).toEqual([]);
});

test("counts days in the server's time zone, including a day of 25 hours", () => {
  // On 25 October Berlin goes back by an hour at 03:00.
  const hours = nextRuns("0 * * * *", "Europe/Berlin", new Date("2026-10-24T20:30:00Z"), 30);
  const newest = hours.toReversed();
  const days = [...keptBy(newest, { daily: 9 }, "Europe/Berlin").keys()];
  expect(days.map((index) => newest[index]?.toISOString())).toEqual([
    "2026-10-26T03:00:00.000Z",
    "2026-10-25T22:00:00.000Z",
    "2026-10-24T21:00:00.000Z",
  ]);
  expect(keptBy(newest, { hourly: 99 }, "Europe/Berlin").size).toBe(30);
});

const rules = record(
  Object.fromEntries(keepPeriods.map((period) => [period, option(integer({ min: 1, max: 9 }))])),
);

test("each rule keeps the newest backup of as many periods as it says, and only backups that no rule keeps are removed", () => {
  assert(
    property(
      array(nat(2000), { maxLength: 60 }),
      rules,
      constantFrom("UTC", "Asia/Kathmandu", "America/New_York"),
      (gaps, given, timeZone) => {
        let ms = Date.parse("2026-11-23T12:00:00Z");
        const moments = gaps.map((gap) => new Date((ms -= gap * (hourMs / 4))));
        const kept = keptBy(moments, given, timeZone);
        for (const period of keepPeriods) {
          const its = [...kept].filter(([, periods]) => periods.includes(period));
          expect(its.length).toBeLessThanOrEqual(given[period] ?? 0);
          // Fewer are kept only where no more periods have backups.
          if (its.length < (given[period] ?? 0))
            expect(keptBy(moments, { [period]: 8760 }, timeZone).size).toBe(its.length);
          if ((given[period] ?? 0) > 0 && moments.length > 0) expect(its[0]?.[0]).toBe(0);
        }
        // Applying the rules again to the kept backups keeps all of them, as at the next run.
        const left = moments.filter((_, index) => kept.has(index));
        expect(keptBy(left, given, timeZone).size).toBe(left.length);
      },
    ),
  );
});

test("describes rules in words, and refuses an unknown period", () => {
  expect(keepInWords({ daily: 7, monthly: 12, weekly: null })).toBe("7 daily, 12 monthly");
  expect(keepInWords({})).toBe(null);
  expect(keepInWords(null)).toBe(null);
  expect(keepRules.safeParse({ daily: 7, minutely: 2 }).success).toBe(false);
  expect(keepRules.safeParse({ daily: 0 }).success).toBe(false);
});
