import { expect, test } from "vitest";
import { shownWorkerStates, type Worker } from "../../contract/workers/worker.ts";
import { inState, plain, withProcesses } from "./testing/workers.ts";
import { workerHelp } from "./worker-help.ts";

const help = (change: Partial<Worker>) => workerHelp({ ...plain, ...change });

test("explains every state, except those that only the service knows", () => {
  for (const status of shownWorkerStates) expect(help({ status }), status).toMatch(/\.$/);
  expect(help({ status: "resting" })).toBeUndefined();
});

test.each<[string, Partial<Worker>, string]>([
  [
    "TERM",
    {},
    "Sent TERM to all processes; queue:work finishes the running job first. Processes still running after 65 s are killed.",
  ],
  [
    "USR2",
    { stopsignal: "USR2", stopwaitsecs: 10 },
    "Sent USR2 to all processes. Processes still running after 10 s are killed.",
  ],
  ["KILL", { stopsignal: "KILL" }, "Kills all processes at once, including running jobs."],
  [
    "a signal that the service does not say",
    { stopsignal: "", stopwaitsecs: null },
    "Sent the stop signal to all processes.",
  ],
])("describes the effect of a stop by %s", (_signal, change, expected) => {
  expect(help({ status: "stopping", ...change })).toBe(expected);
});

test("shows how many processes of a failed worker are up, and what starts the others", () => {
  const rest = "Failed processes stay down until the worker is started, restarted or deployed.";
  const failed = (...states: Parameters<typeof inState>[0][]) =>
    workerHelp({
      ...withProcesses(...states.map((state) => inState(state, 10))),
      status: "failed",
    });
  expect(failed("RUNNING", "RUNNING", "FATAL")).toBe(`2 of 3 up. ${rest}`);
  expect(failed("FATAL", "FATAL", "FATAL")).toBe(`No process is up. ${rest}`);
  expect(help({ status: "failed" })).toBe(rest);
});

test("mentions that a worker with limits may be restarting", () => {
  expect(help({ status: "installed" })).toBe("All processes are up.");
  expect(help({ status: "installed", max_jobs: 6 })).toBe(
    "All processes are up, or restarting after reaching max jobs.",
  );
});
