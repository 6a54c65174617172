import { expect, test } from "vitest";
import { createWorkerBody } from "../../contract/workers/bodies.ts";
import { defaultValues, newValues, toChange, toPreview, withGiven } from "./worker-form.ts";

test("the initial form can be sent", () => {
  expect(createWorkerBody.safeParse(defaultValues).success).toBe(true);
});

test("the stop wait follows the timeout unless it was set", () => {
  expect(toPreview({ timeout: 90 }).stopwaitsecs).toBe(95);
  expect(toPreview({ timeout: 90, stopwaitsecs: 5 }).stopwaitsecs).toBe(5);
});

test("previews the default for an invalid field", () => {
  expect(toPreview({ timeout: Number.NaN, memory: -5 })).toMatchObject({
    timeout: 60,
    memory: 128,
  });
});

test("accepts values from the URL, except invalid ones", () => {
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

test("sends only changed fields, and the default for a cleared one", () => {
  const before = { ...defaultValues, processes: 3, stopwaitsecs: 65, directory: "jobs" };
  expect(toChange(before, before, "/srv/shop")).toEqual({});
  expect(toChange({ ...before, queue: "emails" }, before, "/srv/shop")).toEqual({
    queue: "emails",
  });
  const emptied = { ...before, processes: undefined, directory: undefined };
  expect(toChange(emptied, before, "/srv/shop")).toEqual({ processes: 1, directory: "/srv/shop" });
});
