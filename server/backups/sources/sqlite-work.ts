// Asks the thread that does SQLite's work, and says what went wrong in the operator's words.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { SourceError } from "./source.ts";
import type { SqliteAnswer, SqliteWork } from "./sqlite-worker.ts";

const script = new URL("./sqlite-worker.ts", import.meta.url);

/** Primary result codes, see https://www.sqlite.org/rescode.html. */
const hints: Record<number, string> = {
  5: "Somebody else holds it and does not let go. Stop what uses it, and try again.",
  8: "It may not be written to by the account that runs the service.",
  11: "It is damaged.",
  13: "There is no room left on its disk.",
  14: "It may not be opened by the account that runs the service.",
  26: "It is no SQLite database.",
};
const unsoundCodes = new Set([11, 26]);

/** What SQLite cannot work with: it says so itself, by its result code. */
class UnsoundDatabase extends SourceError {}

export const isUnsound = (error: unknown): boolean => error instanceof UnsoundDatabase;

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
    if (answer.ok) return answer;
    const code = Number(answer.code) & 0xff;
    const hint = hints[code];
    const words = `${path}: ${answer.message}.${hint === undefined ? "" : ` ${hint}`}`;
    throw unsoundCodes.has(code) ? new UnsoundDatabase(words) : new SourceError(words);
  } finally {
    signal.removeEventListener("abort", end);
    await worker.terminate();
  }
}
