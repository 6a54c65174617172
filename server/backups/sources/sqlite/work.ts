// Runs SQLite's operations in a thread, and reports their errors.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { compileCacheEnvironment } from "../../../compile-cache.ts";
import { performSqliteWork, type SqliteAnswer, type SqliteWork } from "./engine.ts";
import { sqliteError } from "./failures.ts";

const script = new URL("./worker.ts", import.meta.url);

/**
 * @param path of the database, for messages
 * @throws SourceError, or the signal's reason. An operation that runs in SQLite is completed first.
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
 * To be called in a process that has nothing else to do: it needs no thread, and as another account it could not read the thread's
 * program.
 */
export function workWithoutThread(): void {
  isApart = true;
}

/** How long an idle thread is kept, because starting one takes longer than most operations. */
const idleMs = 2_000;
let resting: Worker | null = null;
let idle: NodeJS.Timeout | undefined;

function wake(): Worker {
  const found = resting;
  resting = null;
  clearTimeout(idle);
  found?.ref();
  return found ?? new Worker(script, { execArgv: [], env: compileCacheEnvironment() });
}

/** Keeps an idle thread, which does not keep the process alive. */
async function rest(worker: Worker): Promise<void> {
  if (resting !== null) return void (await worker.terminate());
  resting = worker;
  worker.unref();
  idle = setTimeout(() => {
    resting = null;
    void worker.terminate();
  }, idleMs).unref();
}

/** @returns null where the thread was terminated */
async function askThread(work: SqliteWork, signal: AbortSignal): Promise<SqliteAnswer | null> {
  const worker = wake();
  const end = () => void worker.terminate();
  signal.addEventListener("abort", end, { once: true });
  const settled = new AbortController();
  const answer = Promise.withResolvers<SqliteAnswer | null>();
  const hearing = { signal: settled.signal };
  once(worker, "message", hearing).then(([message]) => answer.resolve(message), answer.reject);
  once(worker, "exit", hearing).then(() => answer.resolve(null), answer.reject);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage(work);
  let answered: SqliteAnswer | null = null;
  try {
    return (answered = await answer.promise);
  } finally {
    settled.abort();
    signal.removeEventListener("abort", end);
    if (answered === null || signal.aborted) await worker.terminate();
    else await rest(worker);
  }
}
