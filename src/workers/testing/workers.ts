// Workers for tests.
import type { ProcessState, Worker, WorkerProcess } from "../../../contract/workers/worker.ts";

export const plain: Worker = {
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

export const inState = (state: ProcessState, minute: number, restarts = 0): WorkerProcess => ({
  number: 1,
  pid: 100,
  state,
  since: `2026-01-31T09:${minute}:00.000000Z`,
  exit_code: null,
  restarts,
});

export const withProcesses = (...process_list: WorkerProcess[]): Worker => ({
  ...plain,
  process_list,
});
