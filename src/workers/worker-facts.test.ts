import { expect, test } from "vitest";
import type { ProcessState, Worker, WorkerProcess } from "../../contract/workers/worker.ts";
import { isLive, processesText, restartCount, upCount, upSince } from "./worker-facts.ts";

const plain: Worker = {
  id: 7,
  command: "php artisan queue:work database",
  connection: "database",
  queue: "default",
  max_jobs: 0,
  max_time: 0,
  force: false,
  memory: 128,
  sleep: 3,
  timeout: 60,
  tries: 1,
  processes: 3,
  directory: "/srv/shop",
  startsecs: 1,
  stopwaitsecs: 65,
  startretries: 3,
  stopsignal: "TERM",
  status: "installed",
  created_at: "2026-01-31T09:30:00.000000Z",
};

const inState = (state: ProcessState, minute: number, restarts = 0): WorkerProcess => ({
  number: 1,
  pid: 100,
  state,
  since: `2026-01-31T09:${minute}:00.000000Z`,
  exit_code: null,
  restarts,
});

const withProcesses = (...process_list: WorkerProcess[]): Worker => ({ ...plain, process_list });

test("without the list of processes nothing is claimed about them", () => {
  expect([upCount(plain), upSince(plain), restartCount(plain)]).toEqual([null, null, null]);
  expect(processesText(plain)).toBe("3");
});

test("only running processes are up", () => {
  const worker = withProcesses(
    inState("RUNNING", 10),
    inState("BACKOFF", 11),
    inState("STOPPING", 12),
  );
  expect(upCount(worker)).toBe(1);
  expect(processesText(worker)).toBe("1 of 3");
});

test("a worker is up since its youngest running process came up", () => {
  const worker = withProcesses(
    inState("RUNNING", 30),
    inState("RUNNING", 40),
    inState("FATAL", 50),
  );
  expect(upSince(worker)).toBe("2026-01-31T09:40:00.000000Z");
  expect(upSince(withProcesses(inState("STOPPED", 10)))).toBeNull();
});

test("restarts add up over the processes", () => {
  expect(restartCount(withProcesses(inState("RUNNING", 10, 2), inState("BACKOFF", 10, 5)))).toBe(7);
  expect(restartCount(withProcesses())).toBe(0);
});

test("a process that may still change by itself keeps the worker live", () => {
  expect(isLive(withProcesses(inState("STOPPED", 10), inState("FATAL", 10)))).toBe(false);
  expect(isLive(withProcesses(inState("STOPPED", 10), inState("BACKOFF", 10)))).toBe(true);
  expect(isLive(plain)).toBe(true);
});
