import { expect, test } from "vitest";
import { calendarOf } from "./calendar.ts";

const at = (text: string) => Date.parse(`${text}Z`);

test.each([
  ["30 2 * * *", "2026-03-01T02:30", "2026-02-28T02:30", "2026-03-02T02:30"],
  ["*/40 9,17 * * *", "2026-03-01T09:20", "2026-03-01T09:00", "2026-03-01T09:40"],
  ["0 0 29 2 *", "2100-01-01T00:00", "2096-02-29T00:00", "2104-02-29T00:00"],
  ["0 12 13 * 5", "2026-02-13T12:00", "2026-02-06T12:00", "2026-02-20T12:00"],
  ["0 12 * * 7", "2026-03-01T12:00", "2026-02-22T12:00", "2026-03-08T12:00"],
])("%s: the runs around %s are at %s and %s", (frequency, wall, previous, next) => {
  const calendar = calendarOf(frequency);
  expect([calendar.previous(at(wall)), calendar.next(at(wall))]).toEqual([at(previous), at(next)]);
});

test("throws a RangeError for an invalid schedule", () => {
  expect(() => calendarOf("0 0 * * FRIDAY")).toThrow(RangeError);
});
