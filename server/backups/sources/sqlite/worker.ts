// SQLite's own work, in a thread of its own: a check of a large file would hold up the whole service.
import { parentPort } from "node:worker_threads";
import { performSqliteWork, type SqliteWork } from "./engine.ts";

const answer = async (work: SqliteWork): Promise<void> =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port to a thread has no origin
  parentPort?.postMessage(await performSqliteWork(work));

parentPort?.on("message", (work: SqliteWork) => void answer(work));
