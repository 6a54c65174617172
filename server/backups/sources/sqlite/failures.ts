// Translates errors of SQLite for the operator.
import { SourceError } from "../source.ts";

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
/** Codes of databases that the account may not open, or not without changing the files beside them. */
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

/** Whether SQLite's result code says that the file is damaged or no database. */
export const isUnsound = (error: unknown): boolean => isOneOf(error, unsoundCodes);

/** Whether SQLite cannot use the file as this account. */
export const isNotUsable = (error: unknown): boolean =>
  isUnsound(error) || isOneOf(error, closedCodes);

/**
 * @param path of the database, for the message
 * @param message SQLite's own
 * @param code result code, primary or extended
 */
export function sqliteError(path: string, message: string, code: number): SourceError {
  const primary = code & 0xff;
  const hint = hints[primary];
  return new SqliteError(`${path}: ${message}.${hint === undefined ? "" : ` ${hint}`}`, primary);
}
