import { expect, test } from "vitest";
import type { ProcessState, WorkerState } from "../../../contract/workers/worker.ts";
import { outcomeOf, type SeenProcess } from "./outcome.ts";

const seen = (...states: ProcessState[]): SeenProcess[] =>
  states.map((state, index) => ({
    number: index + 1,
    state,
    reason: null,
    deployment: null,
    settings: 0,
    isBetweenRuns: false,
    upAt: null,
    outages: [],
  }));

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
  // No process has been started for the order yet.
  ["installing", [], null],
  ["starting", [], null],
  ["restarting", [], null],
  ["failed", [], null],
  ["stopped", ["STOPPED"], null],
  ["stopped", [], null],
  // Started on the server, which is judged once it is done.
  ["stopped", ["STARTING", "STOPPED"], null],
  ["stopped", ["STOPPING", "STOPPED"], null],
  ["stopped", ["RUNNING", "RUNNING"], "installed"],
  ["stopped", ["RUNNING", "BACKOFF"], "restarting"],
  ["stopped", ["RUNNING", "FATAL"], "failed"],
  ["removing", ["STOPPED"], null],
])("%s with processes %o moves to %s", (status, states, expected) => {
  expect(outcomeOf(status, seen(...states), null)?.status ?? null).toBe(expected);
});

test("the reason of a failure names the process and its problem", () => {
  const processes = seen("RUNNING", "FATAL").map((one) => ({
    ...one,
    reason: "Exited with code 1.",
  }));
  expect(outcomeOf("installing", processes, null)?.reason).toBe("Process 2: Exited with code 1.");
});

test.each<[WorkerState, ProcessState, WorkerState | null]>([
  ["installed", "RUNNING", "failed"],
  ["stopped", "RUNNING", "failed"],
  ["installed", "STOPPING", null],
  ["restarting", "STOPPING", null],
  ["installed", "STOPPED", "stopped"],
  ["stopped", "STOPPED", null],
  ["failed", "RUNNING", null],
])(
  "%s with a process that is stopped on the server beside one that is %s moves to %s",
  (status, state, expected) => {
    const processes = seen(state, "STOPPED").map((one) => ({
      ...one,
      isStoppedElsewhere: one.state === "STOPPED",
    }));
    expect(outcomeOf(status, processes, null)?.status ?? null).toBe(expected);
  },
);

test.each<[WorkerState, ProcessState, WorkerState | null]>([
  ["installed", "EXITED", null],
  ["installed", "STARTING", null],
  ["installing", "STARTING", "installed"],
  ["restarting", "EXITED", "installed"],
])(
  "%s stays or becomes up while a process is %s because it did its max_jobs",
  (status, state, expected) => {
    const [first, second] = seen("RUNNING", state);
    if (!first || !second) throw new Error("There are two.");
    const processes = [first, { ...second, isBetweenRuns: true }];
    expect(outcomeOf(status, processes, null)?.status ?? null).toBe(expected);
  },
);

test.each<[WorkerState, (number | null)[], WorkerState | null]>([
  ["restarting", [7, 7], "installed"],
  ["restarting", [7, 8], "installed"],
  ["restarting", [7, 6], null],
  ["restarting", [7, null], null],
  ["installing", [null], null],
])(
  "%s with processes of the deployments %o moves to %s when deployment 7 is required",
  (status, deployments, expected) => {
    const processes = deployments.flatMap((deployment) =>
      seen("RUNNING").map((one) => ({ ...one, deployment })),
    );
    expect(outcomeOf(status, processes, 7)?.status ?? null).toBe(expected);
  },
);
