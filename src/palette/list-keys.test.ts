import { expect, test } from "vitest";
import { nextPlace } from "./list-keys.ts";

test.each([
  ["ArrowDown", 0, 1],
  ["ArrowDown", 19, 0],
  ["ArrowUp", 0, 19],
  ["Home", 7, 0],
  ["End", 7, 19],
  ["PageDown", 15, 19],
  ["PageUp", 3, 0],
  ["a", 3, null],
])("%s moves from %i to %s", (key, place, expected) => {
  expect(nextPlace(key, place, 20)).toBe(expected);
});

test("in an empty list there is nowhere to go", () => {
  expect(nextPlace("ArrowDown", 0, 0)).toBeNull();
});
