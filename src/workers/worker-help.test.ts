import { expect, test } from "vitest";
import { workerStates, type Worker } from "../../contract/workers/worker.ts";
import { inState, plain, withProcesses } from "./testing/workers.ts";
import { workerHelp } from "./worker-help.ts";

const help = (change: Partial<Worker>) => workerHelp({ ...plain, ...change });

test("every state is explained, and one that only its service knows is not", () => {
  for (const status of workerStates) expect(help({ status }), status).toMatch(/\.$/);
  expect(help({ status: "resting" })).toBeUndefined();
});

test.each<[string, Partial<Worker>, string]>([
  [
    "TERM",
    {},
    "Its processes were sent TERM, on which queue:work ends the job at hand first. What is left after 65 s is killed.",
  ],
  [
    "USR2",
    { stopsignal: "USR2", stopwaitsecs: 10 },
    "Its processes were sent USR2. What is left after 10 s is killed.",
  ],
  ["KILL", { stopsignal: "KILL" }, "Its processes are killed at once, with the job at hand."],
  [
    "a signal that the service does not say",
    { stopsignal: "", stopwaitsecs: null },
    "Its processes were sent the stop signal.",
  ],
])("a stop by %s promises what it does", (_signal, change, expected) => {
  expect(help({ status: "stopping", ...change })).toBe(expected);
});

test("a worker that failed says how much of it is up, and what starts the rest again", () => {
  const rest =
    "What was given up stays down until somebody starts or restarts the worker, or a deployment does.";
  const failed = (...states: Parameters<typeof inState>[0][]) =>
    workerHelp({
      ...withProcesses(...states.map((state) => inState(state, 10))),
      status: "failed",
    });
  expect(failed("RUNNING", "RUNNING", "FATAL")).toBe(`2 of 3 up. ${rest}`);
  expect(failed("FATAL", "FATAL", "FATAL")).toBe(`None of its processes is up. ${rest}`);
  expect(help({ status: "failed" })).toBe(rest);
});

test("a worker that ends by its own rule says that it may just be coming back", () => {
  expect(help({ status: "installed" })).toBe("All its processes are up.");
  expect(help({ status: "installed", max_jobs: 6 })).toBe(
    "All its processes are up, or have just ended after their max jobs and are started again.",
  );
});
