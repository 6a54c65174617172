import { expect, test } from "vitest";
import { countOf, countText } from "./count-text.ts";

test("groups counts by thousands, and uses the singular for one", () => {
  expect([0, 999, 1000, 1_234_567].map(countText)).toEqual(["0", "999", "1,000", "1,234,567"]);
  expect([0, 1, 2000].map((count) => countOf(count, "row"))).toEqual([
    "0 rows",
    "1 row",
    "2,000 rows",
  ]);
  expect(countOf(2, "entry", "entries")).toBe("2 entries");
});
