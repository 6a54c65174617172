import { expect, test } from "vitest";
import type { ProcessState, WorkerState } from "../../contract/workers/worker.ts";
import { outcomeOf } from "./outcome.ts";

const seen = (...states: ProcessState[]) =>
  states.map((state, index) => ({ number: index + 1, state, reason: null }));

test.each<[WorkerState, ProcessState[], WorkerState | null]>([
  ["installing", ["RUNNING", "RUNNING"], "installed"],
  ["installing", ["RUNNING", "STARTING"], null],
  ["installing", ["RUNNING", "BACKOFF"], null],
  ["installing", ["RUNNING", "FATAL"], "failed"],
  ["starting", ["RUNNING"], "installed"],
  ["restarting", ["RUNNING"], "installed"],
  ["restarting", ["STOPPING"], null],
  ["installed", ["RUNNING", "RUNNING"], null],
  ["installed", ["RUNNING", "EXITED"], "restarting"],
  ["installed", ["RUNNING", "STARTING"], "restarting"],
  ["installed", ["RUNNING", "FATAL"], "failed"],
  ["failed", ["RUNNING", "FATAL"], null],
  ["failed", ["RUNNING", "STARTING"], null],
  ["failed", ["RUNNING", "RUNNING"], "installed"],
  ["stopping", ["STOPPED", "STOPPING"], null],
  ["stopping", ["STOPPED", "STOPPED"], "stopped"],
  ["stopping", [], "stopped"],
  ["stopped", ["STOPPED"], null],
  ["removing", ["STOPPED"], null],
])("%s with processes %o moves to %s", (status, states, expected) => {
  expect(outcomeOf(status, seen(...states))?.status ?? null).toBe(expected);
});

test("a failure names the process and why", () => {
  const processes = [{ number: 2, state: "FATAL" as const, reason: "Exited with code 1." }];
  expect(outcomeOf("installing", processes)?.reason).toBe("Process 2: Exited with code 1.");
});
