// Body of a request that creates a worker: the required fields, with settings that avoid waiting.

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
  /** Short, so that a process that misses its signal is killed soon; the default is 65. */
  stopwaitsecs: 10,
};
