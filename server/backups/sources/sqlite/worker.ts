// The thread that runs SQLite's operations, because the check of a large file would block the whole service.
import { parentPort } from "node:worker_threads";
import { performSqliteWork, type SqliteWork } from "./engine.ts";

const answer = async (work: SqliteWork): Promise<void> =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port to a thread has no origin
  parentPort?.postMessage(await performSqliteWork(work));

parentPort?.on("message", (work: SqliteWork) => void answer(work));
