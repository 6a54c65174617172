import { expect, test } from "vitest";
import { toTimestamp } from "../../contract/values.ts";
import { isCrashLoop } from "./crash-loop.ts";

const nowMs = 1_700_000_000_000;
const process = {
  number: 1,
  pid: 7,
  state: "RUNNING",
  since: toTimestamp(new Date(nowMs - 10_000)),
  exit_code: 1,
  restarts: 3,
} as const;

test.each([
  ["dies with an error every few seconds", {}, true],
  ["is killed again and again", { exit_code: null }, true],
  ["did so long ago", { since: toTimestamp(new Date(nowMs - 600_000)) }, false],
  ["ends well after its jobs", { exit_code: 0, restarts: 900 }, false],
  ["died once or twice", { restarts: 2 }, false],
  ["never ended", { exit_code: null, restarts: 0 }, false],
])("a process that %s", (_what, change, expected) => {
  expect(isCrashLoop([{ ...process, ...change }], nowMs)).toBe(expected);
});
