import { expect, test } from "vitest";
import { ageInWords, simulateYear, type YearOfBackups } from "./retention-year.ts";

const asked = {
  frequency: "30 2 * * *",
  timeZone: "Europe/Berlin",
  now: new Date("2026-11-23T12:00:00Z"),
};

/** Formats each rule with the number of backups that it keeps, and the age of the oldest. */
const shown = ({ rules, kept, newest }: YearOfBackups) =>
  [...rules, { label: "all", kept }].map(({ label, kept: own }) => {
    const oldest = own.at(-1) ?? newest;
    return `${label}: ${own.length}, ${ageInWords(newest.getTime() - oldest.getTime())}`;
  });

test.each([
  [
    { hold: 7, keep: { weekly: 4, monthly: 12 } },
    [
      "Last 7: 7, 6 days",
      "4 weekly: 4, 16 days",
      "12 monthly: 12, 11 months",
      "all: 20, 11 months",
    ],
  ],
  [
    { hold: 1, keep: { daily: 3 } },
    ["Last 1: 1, less than a day", "3 daily: 3, 2 days", "all: 3, 2 days"],
  ],
  [
    { hold: 7, keep: { yearly: 9 } },
    ["Last 7: 7, 6 days", "9 yearly: 2, 11 months", "all: 8, 11 months"],
  ],
])("%j keeps what its rules say", (given, expected) => {
  const year = simulateYear({ ...asked, ...given });
  expect(year === null ? null : shown(year)).toEqual(expected);
  expect(year?.span).toBe("a year");
});

test("also keeps the fulls of incremental backups that the rules keep", () => {
  const year = simulateYear({ ...asked, hold: 2, keep: { monthly: 3 }, isIncremental: true });
  expect(year === null ? null : shown(year)).toEqual([
    "Last 2: 2, 1 day",
    "3 monthly: 3, 54 days",
    "Full, for incremental ones: 3, 55 days",
    "all: 7, 55 days",
  ]);
  // Every run makes a full backup.
  const weekly = { ...asked, frequency: "0 3 * * 0", hold: 2, keep: { monthly: 3 } };
  expect(simulateYear({ ...weekly, isIncremental: true })).toEqual(simulateYear(weekly));
});

test("counts the incremental backups of a full that retention leaves, not those that were made", () => {
  const hourly = { ...asked, frequency: "0 * * * *", keep: { daily: 30, monthly: 12 } };
  const year = simulateYear({ ...hourly, hold: 24, isIncremental: true });
  // Thirty times a run stored changes within 31 hours, but after a day only some of those are left.
  expect(year === null ? null : shown(year)).toEqual([
    "Last 24: 24, 1 day",
    "30 daily: 30, 29 days",
    "12 monthly: 12, 11 months",
    "Full, for incremental ones: 11, 11 months",
    "all: 73, 11 months",
  ]);
});

test("returns nothing if only the last backups are kept, or nothing runs", () => {
  expect(simulateYear({ ...asked, hold: 7, keep: null })).toBeNull();
  expect(simulateYear({ ...asked, hold: 7, keep: { daily: null } })).toBeNull();
  expect(
    simulateYear({ ...asked, frequency: "0 0 31 2 *", hold: 7, keep: { daily: 1 } }),
  ).toBeNull();
});

test.each([Number.NaN, 0, -1, 1.5, 8761])("returns nothing for a hold of %d", (hold) => {
  expect(simulateYear({ ...asked, hold, keep: { daily: 7 } })).toBeNull();
});

test("covers a shorter time for a schedule with too many runs in a year", () => {
  const year = simulateYear({ ...asked, frequency: "*/5 * * * *", hold: 1, keep: { daily: 2 } });
  expect(year?.span).toBe("31 days");
  expect(year?.kept).toHaveLength(2);
});
