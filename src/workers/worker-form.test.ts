import { expect, test } from "vitest";
import { createWorkerBody } from "../../contract/workers/worker.ts";
import { defaultValues, toNumber, toPreview, toText } from "./worker-form.ts";

test("the form as it opens can be sent", () => {
  expect(createWorkerBody.safeParse(defaultValues).success).toBe(true);
});

test.each([
  ["", undefined],
  ["  ", undefined],
  [undefined, undefined],
  ["0", 0],
  [" 60 ", 60],
  ["-1", -1],
  ["1.5", 1.5],
  [128, 128],
  ["abc", Number.NaN],
  ["1e3", Number.NaN],
  ["0x10", Number.NaN],
])("a text in a number field: %j", (value, expected) => {
  expect(toNumber(value)).toBe(expected);
});

test.each([
  ["", undefined],
  [" ", undefined],
  [" current ", "current"],
])("a text that may be left out: %j", (value, expected) => {
  expect(toText(value)).toBe(expected);
});

test("the stop waits for the timeout and a little more unless told otherwise", () => {
  expect(toPreview({ timeout: 90 }).stopwaitsecs).toBe(95);
  expect(toPreview({ timeout: 90, stopwaitsecs: 5 }).stopwaitsecs).toBe(5);
});

test("a field that does not fit yet counts as its default", () => {
  expect(toPreview({ timeout: Number.NaN, memory: -5 })).toMatchObject({
    timeout: 60,
    memory: 128,
  });
});
