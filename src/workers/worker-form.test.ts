import { expect, test } from "vitest";
import { createWorkerBody } from "../../contract/workers/bodies.ts";
import { defaultValues, newValues, toChange, toPreview, withGiven } from "./worker-form.ts";

test("the form as it opens can be sent", () => {
  expect(createWorkerBody.safeParse(defaultValues).success).toBe(true);
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

test("an address gives values, and none that a worker could not have", () => {
  const values = newValues(null);
  const given = { queue: "high,low", processes: 4, unknown: true };
  expect(withGiven(values, JSON.stringify(given))).toMatchObject({
    ...values,
    queue: "high,low",
    processes: 4,
  });
  for (const text of [null, "{", "null", "7", JSON.stringify({ processes: 900 })])
    expect(withGiven(values, text), text ?? "nothing").toMatchObject(values);
});

test("a change says what was changed, and gives an emptied field its default again", () => {
  const before = { ...defaultValues, processes: 3, stopwaitsecs: 65, directory: "jobs" };
  expect(toChange(before, before, "/srv/shop")).toEqual({});
  expect(toChange({ ...before, queue: "emails" }, before, "/srv/shop")).toEqual({
    queue: "emails",
  });
  const emptied = { ...before, processes: undefined, directory: undefined };
  expect(toChange(emptied, before, "/srv/shop")).toEqual({ processes: 1, directory: "/srv/shop" });
});
