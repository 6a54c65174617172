// Has SQLite's work done, and says what went wrong in the operator's words.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { SourceError } from "../source.ts";
import { performSqliteWork, type SqliteAnswer, type SqliteWork } from "./engine.ts";

const script = new URL("./worker.ts", import.meta.url);

/** Primary result codes, see https://www.sqlite.org/rescode.html. */
const hints: Record<number, string> = {
  5: "The database is locked by another process. Stop that process and try again.",
  8: "It may not be written to by the account that works on it.",
  11: "It is damaged.",
  13: "Its disk is full.",
  14: "It may not be opened by the account that works on it.",
  26: "It isn't a SQLite database.",
};
const unsoundCodes = new Set([11, 26]);
/** Besides unsound ones: it may not be opened, or not without a change of what lies beside it. */
const closedCodes = new Set([8, 14]);

class SqliteError extends SourceError {
  /** Primary result code. */
  readonly resultCode: number;
  constructor(words: string, resultCode: number) {
    super(words);
    this.resultCode = resultCode;
  }
}

const isOneOf = (error: unknown, codes: ReadonlySet<number>): boolean =>
  error instanceof SqliteError && codes.has(error.resultCode);

/** What SQLite cannot work with: it says so itself, by its result code. */
export const isUnsound = (error: unknown): boolean => isOneOf(error, unsoundCodes);

/** Of no use to SQLite as this account, whatever else it is. */
export const isNotUsable = (error: unknown): boolean =>
  isUnsound(error) || isOneOf(error, closedCodes);

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
  const code = Number(answer.code) & 0xff;
  const hint = hints[code];
  const words = `${path}: ${answer.message}.${hint === undefined ? "" : ` ${hint}`}`;
  throw new SqliteError(words, code);
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
  const worker = new Worker(script, { workerData: work, execArgv: [] });
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
