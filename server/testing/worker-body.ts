// What a test sends to create a worker: the required fields, and nothing that takes time.

export const workerBody = {
  connection: "database",
  queue: "default",
  max_jobs: 0,
  max_time: 0,
  force: false,
  memory: 128,
  sleep: 3,
  timeout: 60,
  tries: 1,
  /** A process counts as started at once. */
  startsecs: 0,
  /** A process whose signal is lost is killed well before a test has waited for long; the default is 65. */
  stopwaitsecs: 10,
};
