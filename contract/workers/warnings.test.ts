import { expect, test } from "vitest";
import { workerWarnings } from "./warnings.ts";

const calm = {
  timeout: 60,
  stopwaitsecs: 65,
  stopsignal: "TERM",
  max_jobs: 0,
  startsecs: 1,
  memory: 128,
  processes: 1,
} as const;

test("does not warn about sensible settings", () => {
  expect(workerWarnings(calm, 1024)).toEqual([]);
});

test.each([
  [{ stopwaitsecs: 59 }, "stopwaitsecs"],
  [{ timeout: 0 }, "timeout"],
  [{ stopsignal: "HUP" }, "stopsignal"],
  [{ stopsignal: "INT" }, "stopsignal"],
  [{ stopsignal: "QUIT" }, "stopsignal"],
  [{ stopsignal: "USR1" }, "stopsignal"],
  [{ stopsignal: "KILL" }, "stopsignal"],
  [{ stopsignal: "USR2" }, "stopsignal"],
  [{ max_jobs: 5 }, "max_jobs"],
  [{ memory: 512, processes: 3 }, "memory"],
] as const)("warns about %o at %s", (change, field) => {
  expect(workerWarnings({ ...calm, ...change }, 1024).map((warning) => warning.field)).toEqual([
    field,
  ]);
});

test("does not warn about few jobs without start seconds", () => {
  expect(workerWarnings({ ...calm, max_jobs: 5, startsecs: 0 }, 1024)).toEqual([]);
});

test("does not warn about memory when the machine's memory is unknown", () => {
  expect(workerWarnings({ ...calm, memory: 1_000_000 }, null)).toEqual([]);
});
