import { expect, test } from "vitest";
import { findMatches } from "./log-search.ts";

const linesOf = (...texts: string[]) => texts.map((text, number) => ({ number, text }));

test("finds every occurrence, ignoring case, without overlaps", () => {
  expect(findMatches(linesOf("aAa", "b", "xaa"), "AA")).toEqual([
    { line: 0, start: 0, end: 2 },
    { line: 2, start: 1, end: 3 },
  ]);
});

test("finds nothing without a text", () => {
  expect(findMatches(linesOf("a", ""), "")).toEqual([]);
});

test.each(["[12]", "a.c", "(", "\\", "$1", "x-y", "^", "a|b", "*"])(
  "searches %s literally",
  (needle) => {
    expect(findMatches(linesOf("nothing of it"), needle)).toEqual([]);
    expect(findMatches(linesOf(`see ${needle} there`), needle)).toEqual([
      { line: 0, start: 4, end: 4 + needle.length },
    ]);
  },
);

test("a letter whose lowercase form is longer shifts no match", () => {
  expect(findMatches(linesOf("İİ found"), "found")).toEqual([{ line: 0, start: 3, end: 8 }]);
});
