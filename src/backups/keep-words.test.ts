import { expect, test } from "vitest";
import { yearInWords } from "./keep-words.ts";

const asked = {
  frequency: "30 2 * * *",
  timeZone: "Europe/Berlin",
  now: new Date("2026-11-23T12:00:00Z"),
};

test.each([
  [
    { hold: 7, keep: { weekly: 4, monthly: 12 } },
    "After a year: 20 backups, the oldest 11 months older than the newest.",
  ],
  [
    { hold: 1, keep: { daily: 3 } },
    "After a year: 3 backups, the oldest 2 days older than the newest.",
  ],
  [
    { hold: 7, keep: { yearly: 9 } },
    "After a year: 8 backups, the oldest 11 months older than the newest.",
  ],
  [
    { hold: 1, keep: { daily: 3 }, usualBytes: 1_234_567 },
    "After a year: 3 backups, the oldest 2 days older than the newest, about 3.7 MB.",
  ],
  [{ hold: 7, keep: null }, null],
])("%j", (given, words) => {
  expect(yearInWords({ ...asked, ...given })).toBe(words);
});

test("a schedule with too many runs for a year is told for what was looked at", () => {
  const words = yearInWords({ ...asked, frequency: "*/5 * * * *", hold: 1, keep: { daily: 2 } });
  expect(words).toBe("After 31 days: 2 backups.");
});
