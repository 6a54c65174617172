import { expect, test } from "vitest";
import { makeRateMeter } from "./rate-meter.ts";

test("has a rate from the second sample on", () => {
  const rate = makeRateMeter();
  expect(rate(1_000_000, 5_000)).toBeNull();
  expect(rate(1_000_000, 6_000)).toBeNull();
  expect(rate(5_000_000, 7_000)).toBe(2_000_000);
});

test("does not count the time between two polls as a slowdown", () => {
  const rate = makeRateMeter();
  rate(0, 0);
  rate(4_000_000, 2_000);
  expect(rate(4_000_000, 3_000)).toBe(2_000_000);
  expect(rate(4_000_000, 4_000)).toBe(2_000_000);
});

test("does not count a high rate of long ago", () => {
  const rate = makeRateMeter();
  rate(0, 0);
  rate(100_000_000, 1_000);
  for (let second = 2; second <= 30; second++) rate(100_000_000 + second * 1_000, second * 1_000);
  expect(rate(100_031_000, 31_000)).toBe(1_000);
});

test("the rate of a stalled run decreases", () => {
  const rate = makeRateMeter();
  rate(0, 0);
  rate(5_000_000, 1_000);
  expect(rate(5_000_000, 10_000)).toBe(500_000);
  expect(rate(5_000_000, 100_000)).toBe(50_000);
});

test("counts two samples at the same moment as one, and restarts with a counter that restarts", () => {
  const rate = makeRateMeter();
  rate(0, 0);
  expect(rate(1_000, 0)).toBeNull();
  expect(rate(3_000, 1_000)).toBe(2_000);
  expect(rate(4_000, 1_000)).toBe(3_000);
  expect(rate(0, 2_000)).toBeNull();
});
