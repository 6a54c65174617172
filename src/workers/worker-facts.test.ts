import { expect, test } from "vitest";
import type { WorkerProcess } from "../../contract/workers/worker.ts";
import { inState, plain, withProcesses } from "./testing/workers.ts";
import {
  isLive,
  partlyUpText,
  processesText,
  releaseText,
  restartCount,
  upCount,
  upSince,
} from "./worker-facts.ts";

test("makes no claims about processes without their list", () => {
  expect([upCount(plain), upSince(plain), restartCount(plain)]).toEqual([null, null, null]);
  expect(processesText(plain)).toBe("3");
});

test("counts only running processes as up", () => {
  const worker = withProcesses(
    inState("RUNNING", 10),
    inState("BACKOFF", 11),
    inState("STOPPING", 12),
  );
  expect(upCount(worker)).toBe(1);
  expect(processesText(worker)).toBe("1 of 3");
});

test("a worker is up since its youngest running process started", () => {
  const worker = withProcesses(
    inState("RUNNING", 30),
    inState("RUNNING", 40),
    inState("FATAL", 50),
  );
  expect(upSince(worker)).toBe("2026-01-31T09:40:00.000000Z");
  expect(upSince(withProcesses(inState("STOPPED", 10)))).toBeNull();
});

test("adds up the restarts of all processes", () => {
  expect(restartCount(withProcesses(inState("RUNNING", 10, 2), inState("BACKOFF", 10, 5)))).toBe(7);
  expect(restartCount(withProcesses())).toBe(0);
});

test("keeps a worker live while a process may still change by itself", () => {
  expect(isLive(withProcesses(inState("STOPPED", 10), inState("FATAL", 10)))).toBe(false);
  expect(isLive(withProcesses(inState("STOPPED", 10), inState("BACKOFF", 10)))).toBe(true);
  expect(isLive(plain)).toBe(true);
});

test("shows how many processes of a partly failed worker are up", () => {
  const partly = withProcesses(
    inState("RUNNING", 10),
    inState("RUNNING", 10),
    inState("FATAL", 10),
  );
  expect(partlyUpText({ ...partly, status: "failed" })).toBe("2 of 3 up");
  expect(partlyUpText(partly)).toBeNull();
  expect(partlyUpText({ ...plain, status: "failed" })).toBeNull();
  expect(partlyUpText({ ...withProcesses(inState("FATAL", 10)), status: "failed" })).toBeNull();
});

test("shows how many processes run the newest release, until all do", () => {
  const on = (deployment_id: number | null, state: WorkerProcess["state"] = "RUNNING") => ({
    ...inState("RUNNING", 10),
    state,
    deployment_id,
  });
  const release = (...processes: WorkerProcess[]) =>
    releaseText({ ...withProcesses(...processes), deployment_id: 7 });
  expect(release(on(7), on(6), on(7))).toBe("2 of 3 on the new release");
  expect(release(on(null), on(6))).toBe("0 of 2 on the new release");
  expect(release(on(7), on(8))).toBeNull();
  // Processes that were stopped or given up run no release.
  expect(release(on(7), on(6, "STOPPED"), on(6, "FATAL"))).toBeNull();
  expect(releaseText(withProcesses(on(6)))).toBeNull();
  expect(releaseText({ ...plain, deployment_id: 7 })).toBeNull();
});
