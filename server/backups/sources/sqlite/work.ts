// Has SQLite's work done, and says what went wrong.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { compileCacheEnvironment } from "../../../compile-cache.ts";
import { performSqliteWork, type SqliteAnswer, type SqliteWork } from "./engine.ts";
import { sqliteError } from "./failures.ts";

const script = new URL("./worker.ts", import.meta.url);

/**
 * @param path what the work is about, for the words
 * @throws SourceError, or the signal's reason. Work that is under way in SQLite comes to its end first.
 */
export async function doSqliteWork(
  work: SqliteWork,
  path: string,
  signal: AbortSignal,
): Promise<Extract<SqliteAnswer, { ok: true }>> {
  signal.throwIfAborted();
  const answer = isApart ? await performSqliteWork(work) : await askThread(work, signal);
  signal.throwIfAborted();
  if (answer === null) throw new Error("The thread for SQLite ended without an answer.");
  if (answer.ok) return answer;
  throw sqliteError(path, answer.message, Number(answer.code));
}

let isApart = false;

/**
 * To be called in a process that has nothing else to do: it needs no thread, and where it became another account it
 * could not read a thread's program.
 */
export function workWithoutThread(): void {
  isApart = true;
}

/** @returns null when the thread was ended */
async function askThread(work: SqliteWork, signal: AbortSignal): Promise<SqliteAnswer | null> {
  const worker = new Worker(script, {
    workerData: work,
    execArgv: [],
    env: compileCacheEnvironment(),
  });
  const end = () => void worker.terminate();
  signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([
      once(worker, "message").then(([message]): SqliteAnswer => message),
      once(worker, "exit").then(() => null),
    ]);
  } finally {
    signal.removeEventListener("abort", end);
    await worker.terminate();
  }
}
