// Asks the thread that does SQLite's work, and says what went wrong in the operator's words.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { SourceError } from "./source.ts";
import type { SqliteAnswer, SqliteWork } from "./sqlite-worker.ts";

const script = new URL("./sqlite-worker.ts", import.meta.url);

/** Primary result codes, see https://www.sqlite.org/rescode.html. */
const hints: Record<number, string> = {
  5: "Somebody else holds it and does not let go.",
  8: "It could not be written in one transaction: its page size differs from the backup's, or it is read-only. Stop what uses it, move it away, and restore again.",
  11: "It is damaged.",
  13: "There is no room left on its disk.",
  14: "It may not be opened by the account that runs the service.",
  26: "It is no SQLite database.",
};

/**
 * @param path what the work is about, for the words
 * @returns rows by table, where the work counts them
 * @throws SourceError, or the signal's reason
 */
export async function doSqliteWork(
  work: SqliteWork,
  path: string,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  signal.throwIfAborted();
  const worker = new Worker(script, { workerData: work, execArgv: [] });
  const end = () => void worker.terminate();
  signal.addEventListener("abort", end, { once: true });
  try {
    const answer = await Promise.race([
      once(worker, "message").then(([message]) => message as SqliteAnswer),
      once(worker, "exit").then(() => null),
    ]);
    signal.throwIfAborted();
    if (answer === null) throw new Error("The thread for SQLite ended without an answer.");
    if (answer.ok) return answer.tables;
    const hint = hints[Number(answer.code) & 0xff];
    throw new SourceError(`${path}: ${answer.message}.${hint === undefined ? "" : ` ${hint}`}`);
  } finally {
    signal.removeEventListener("abort", end);
    await worker.terminate();
  }
}
