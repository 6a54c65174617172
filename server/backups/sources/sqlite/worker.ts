// SQLite's own work, in a thread of its own: a check of a large file would hold up the whole service.
import { parentPort, workerData } from "node:worker_threads";
import { performSqliteWork, type SqliteWork } from "./engine.ts";

// What started the thread gave it this.
const answer = await performSqliteWork(workerData as SqliteWork);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port to a thread has no origin
parentPort?.postMessage(answer);
