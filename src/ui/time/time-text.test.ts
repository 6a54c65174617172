import { expect, test } from "vitest";
import { absoluteText, durationText, relativeText, soonText } from "./time-text.ts";

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
  [2 * h, "in 2 hours"],
])("formats a time %i ms away in whole units", (awayMs, expected) => {
  expect(relativeText(1e12 + awayMs, 1e12)).toBe(expected);
});

test("formats a time in the near future as future", () => {
  expect(relativeText(1e12 + 59 * s, 1e12, soonText)).toBe("in under a minute");
  expect(relativeText(1e12 + min, 1e12, soonText)).toBe("in 1 minute");
  expect(relativeText(1e12 - min, 1e12, soonText)).toBe("1 minute ago");
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
