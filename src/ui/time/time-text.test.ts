import { expect, test } from "vitest";
import { absoluteText, comingText, durationText, relativeText } from "./time-text.ts";

const s = 1_000;
const min = 60 * s;
const h = 60 * min;
const d = 24 * h;

test.each([
  [0, "just now"],
  [-59 * s, "just now"],
  [5 * s, "just now"],
  [-1 * min, "1 minute ago"],
  [-119 * s, "1 minute ago"],
  [-3 * h, "3 hours ago"],
  [-23 * h - 59 * min, "23 hours ago"],
  [-40 * d, "40 days ago"],
])("formats a past time %i ms away in whole units", (awayMs, expected) => {
  expect(relativeText(1e12 + awayMs, 1e12)).toBe(expected);
});

test("doesn't count down to a past time that a clock that was set back puts into the future", () => {
  expect(relativeText(1e12 + 59 * s, 1e12)).toBe("just now");
  expect(relativeText(1e12 + min, 1e12)).toBe("in the future");
  expect(relativeText(1e12 + 14 * h, 1e12)).toBe("in the future");
});

test.each([
  [59 * s, "in under a minute"],
  [-59 * s, "in under a minute"],
  [min, "in 1 minute"],
  [2 * h, "in 2 hours"],
  [-min, "1 minute ago"],
])("formats a time that is to come in %i ms", (awayMs, expected) => {
  expect(comingText(1e12 + awayMs, 1e12)).toBe(expected);
});

test.each([
  [-5 * s, "0 s"],
  [0, "0 s"],
  [59_999, "59 s"],
  [min, "1 min"],
  [59 * min + 59 * s, "59 min"],
  [h, "1 h"],
  [2 * h + 5 * min, "2 h 5 min"],
  [d, "1 d"],
  [4 * d + 3 * h + 20 * min, "4 d 3 h"],
])("formats a duration of %i ms with two units at most", (ms, expected) => {
  expect(durationText(ms)).toBe(expected);
});

test("formats a full time in English, whatever the browser's language, with its time zone", () => {
  const pattern = /^3[01] Jan 2026, \d\d:\d\d:00 · 2026-01-31 09:30:00 UTC$/;
  expect(absoluteText(new Date("2026-01-31T09:30:00Z"))).toMatch(pattern);
});
