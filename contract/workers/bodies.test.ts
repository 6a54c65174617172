import { describe, expect, test } from "vitest";
import { toFieldErrors, toFieldErrorsBody } from "../errors.ts";
import "../validation-messages.ts";
import { createWorkerBody, defaultStopWait, withWorkerDefaults } from "./bodies.ts";

const body = {
  connection: "redis",
  queue: "high,default",
  max_jobs: 0,
  max_time: 0,
  force: false,
  memory: 128,
  sleep: 3,
  timeout: 60,
  tries: 1,
};

const complaints = (change: Record<string, unknown>) => {
  const parsed = createWorkerBody.safeParse({ ...body, ...change });
  return parsed.success ? {} : toFieldErrors(parsed.error.issues);
};

test("accepts the required fields alone, with defaults for the rest", () => {
  const parsed = createWorkerBody.parse({ ...body, something: "unknown" });
  expect(parsed).toEqual(body);
  expect(withWorkerDefaults(parsed)).toMatchObject({
    processes: 1,
    startsecs: 1,
    startretries: 3,
    stopwaitsecs: 65,
    stopsignal: "TERM",
    stopasgroup: false,
  });
});

test.each([
  [0, 3600],
  [1, 10],
  [5, 10],
  [6, 11],
  [60, 65],
  [2_147_483_647, 2_147_483_647],
])("a timeout of %i s leads to a default stop wait of %i s", (timeout, expected) => {
  expect(defaultStopWait(timeout)).toBe(expected);
});

test.each(["TERM", "HUP", "INT", "QUIT", "KILL", "USR1", "USR2"])(
  "accepts the signal %s with and without SIG, and stores it without",
  (name) => {
    expect(createWorkerBody.parse({ ...body, stopsignal: name }).stopsignal).toBe(name);
    expect(createWorkerBody.parse({ ...body, stopsignal: `SIG${name}` }).stopsignal).toBe(name);
  },
);

describe("reports a value out of bounds at its field", () => {
  test.each<[Record<string, unknown>, string, string]>([
    [{ connection: undefined }, "connection", "The connection field is required."],
    [{ connection: "" }, "connection", "The connection field is required."],
    [{ connection: null }, "connection", "The connection field is required."],
    [{ connection: 7 }, "connection", "The connection field must be a string."],
    [{ connection: "a b" }, "connection", "letters, digits"],
    [{ connection: "-" }, "connection", "must not begin with “-”"],
    [{ connection: "--once" }, "connection", "must not begin with “-”"],
    [{ connection: "-vvv" }, "connection", "must not begin with “-”"],
    [{ connection: "x".repeat(65) }, "connection", "must not be longer than 64 characters"],
    [{ queue: "a, b" }, "queue", "comma-separated"],
    [{ queue: "a,,b" }, "queue", "comma-separated"],
    [{ queue: "a\nb" }, "queue", "comma-separated"],
    [{ queue: 'a"b' }, "queue", "comma-separated"],
    [{ queue: "größe" }, "queue", "comma-separated"],
    [{ queue: "x".repeat(65_536) }, "queue", "must not be longer"],
    [{ queue: "x".repeat(129) }, "queue", "comma-separated"],
    [{ max_jobs: -1 }, "max_jobs", "The max jobs field must be at least 0."],
    [{ max_jobs: 1.5 }, "max_jobs", "The max jobs field must be an integer."],
    [{ max_jobs: "1" }, "max_jobs", "The max jobs field must be an integer."],
    [{ max_jobs: 2_147_483_648 }, "max_jobs", "must not be greater than 2147483647"],
    [{ max_jobs: 1e300 }, "max_jobs", "The max jobs field"],
    [{ max_time: undefined }, "max_time", "The max time field is required."],
    [{ force: "true" }, "force", "The force field must be true or false."],
    [{ force: 1 }, "force", "The force field must be true or false."],
    [{ memory: 15 }, "memory", "The memory field must be at least 16."],
    [{ sleep: true }, "sleep", "The sleep field must be an integer."],
    [{ timeout: [] }, "timeout", "The timeout field must be an integer."],
    [{ tries: {} }, "tries", "The tries field must be an integer."],
    [{ processes: 0 }, "processes", "The processes field must be at least 1."],
    [{ processes: 65 }, "processes", "The processes field must not be greater than 64."],
    [{ directory: "a\u0001b" }, "directory", "control characters"],
    [{ startsecs: -1 }, "startsecs", "at least 0"],
    [{ stopwaitsecs: "x" }, "stopwaitsecs", "must be an integer"],
    [{ startretries: -1 }, "startretries", "at least 0"],
    [{ stopasgroup: "true" }, "stopasgroup", "The stopasgroup field must be true or false."],
    [{ stopsignal: "STOP" }, "stopsignal", "The selected stopsignal is invalid."],
    [{ stopsignal: "term" }, "stopsignal", "The selected stopsignal is invalid."],
  ])("%o", (change, field, text) => {
    const errors = complaints(change);
    expect(Object.keys(errors)).toEqual([field]);
    expect(errors[field]?.[0]).toContain(text);
  });
});

test.each([
  [1, "The a field is required."],
  [2, "The a field is required. (and 1 more error)"],
  [3, "The a field is required. (and 2 more errors)"],
])("summarizes %i errors in one message", (count, message) => {
  const errors = Object.fromEntries(
    ["a", "b", "c"].slice(0, count).map((name) => [name, [`The ${name} field is required.`]]),
  );
  expect(toFieldErrorsBody(errors).message).toBe(message);
});
