import { expect, test } from "vitest";
import { niceCeiling } from "./nice-ceiling.ts";

test.each([
  [0, 1],
  [1, 1],
  [1.1, 2],
  [4, 5],
  [5.5, 10],
  [4_100_000, 5_000_000],
])("for %d the axis ends at %d", (value, end) => {
  expect(niceCeiling(value)).toBe(end);
});
