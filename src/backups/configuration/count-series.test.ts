import { expect, test } from "vitest";
import { changeText, linesOf } from "./count-series.ts";

test.each<[(number | null)[], string]>([
  [[1204, 720], "−484 (−40%)"],
  [[1000, 1003], "+3"],
  [[5, 5], "None"],
  [[5, 0], "−5 (−100%)"],
  [[0, 12], "+12"],
  [[100_000, 1], "−99,999 (−99%)"],
  [[null, 7], "New"],
  [[7, null], "Gone"],
  [[7, null, null], "–"],
  [[7], "–"],
])("the change of %j is %s", (counts, expected) => {
  expect(changeText({ name: "orders", counts })).toBe(expected);
});

test("draws two lines for a table that was missing for a while", () => {
  const backups = [1, 2, 3, 4].map((id) => ({ id, started_at: `2026-11-2${id}T02:30:00Z` }));
  const lines = linesOf({ name: "orders", counts: [1, 2, null, 4] }, backups);
  expect(lines.map((line) => line.map(({ value }) => value))).toEqual([[1, 2], [4]]);
  expect(linesOf({ name: "orders", counts: [null, null] }, backups)).toEqual([]);
});
