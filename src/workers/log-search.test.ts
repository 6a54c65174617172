import { expect, test } from "vitest";
import { findMatches } from "./log-search.ts";

const linesOf = (...texts: string[]) => texts.map((text, number) => ({ number, text }));

test("every occurrence is found, whatever its case, none within another", () => {
  expect(findMatches(linesOf("aAa", "b", "xaa"), "AA")).toEqual([
    { line: 0, start: 0, end: 2 },
    { line: 2, start: 1, end: 3 },
  ]);
});

test("nothing is searched for when nothing was typed", () => {
  expect(findMatches(linesOf("a", ""), "")).toEqual([]);
});

test.each(["[12]", "a.c", "(", "\\", "$1", "x-y", "^", "a|b", "*"])(
  "%s is no pattern",
  (needle) => {
    expect(findMatches(linesOf("nothing of it"), needle)).toEqual([]);
    expect(findMatches(linesOf(`see ${needle} there`), needle)).toEqual([
      { line: 0, start: 4, end: 4 + needle.length },
    ]);
  },
);

test("a letter whose small form is longer moves nothing", () => {
  expect(findMatches(linesOf("İİ found"), "found")).toEqual([{ line: 0, start: 3, end: 8 }]);
});
