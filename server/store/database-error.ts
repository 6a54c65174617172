// What a failed query says about the database itself, in the operator's words.

/** https://www.postgresql.org/docs/18/errcodes-appendix.html: codes of five characters, classes of two. */
const words = {
  full: "The database's disk is full. Free some space. Saved data is safe.",
  starting: "The database is starting. Try again in a moment.",
  lost: "The database is not responding. Quarterdeck reconnects automatically. If the problem persists, check the database's log.",
  crowded: "All database connections are in use. Try again in a moment.",
  conflict: "Something else changed the same data at the same time. Try again.",
  readOnly:
    "The database is read-only, as a standby is. Connect Quarterdeck to the primary database. Saved data is safe.",
};

/** Of a service that goes on. */
export const lostWords = words.lost;

/** As PostgreSQL says that a file can't grow. */
const fullDiskState = "53100";

/** @returns whether what a database told was that its disk is full */
export const isFullDisk = ({ code }: { code?: string | undefined }): boolean =>
  code === fullDiskState;

/** Of a transaction that may only read. */
const readOnlyState = "25006";

/** Nothing can be changed in a database, as PostgreSQL says it once somebody tries. */
export class ReadOnlyDatabase extends Error {
  override name = "ReadOnlyDatabase";
  code = readOnlyState;
}

const bySqlState: Record<string, string> = {
  [readOnlyState]: words.readOnly,
  // A transaction that cannot be committed is rolled back as a whole: serialization, deadlock.
  "40001": words.conflict,
  "40P01": words.conflict,
  [fullDiskState]: words.full,
  "53300": words.crowded,
  // Shut down by somebody, ended by a crash, not up yet.
  "57P01": words.lost,
  "57P02": words.lost,
  "57P03": words.starting,
};

const connectionClass = "08";

const lostCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/** What `pg` and its pool say without a code. */
const lostMessages =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|timeout expired$)/;

/**
 * What is wrong with the database in operator's words, if that is why `error` was thrown; null for anything else, e.g. a broken
 * constraint. To be asked about errors of database calls: a refused connection does not say what it was to.
 */
export function describeDatabaseError(error: unknown): string | null {
  // Drizzle wraps what `pg` throws, a service may wrap that, and a host with two addresses fails with one error for each.
  const waiting = [error];
  const seen = new Set<unknown>();
  while (waiting.length > 0) {
    const next = waiting.shift();
    if (!(next instanceof Error) || seen.has(next)) continue;
    seen.add(next);
    const text = describeOne(next);
    if (text !== null) return text;
    waiting.push(next.cause);
    if (next instanceof AggregateError) waiting.push(...next.errors);
  }
  return null;
}

function describeOne(error: NodeJS.ErrnoException & { address?: string }): string | null {
  const { code, message, address } = error;
  if (code === undefined) return lostMessages.test(message) ? words.lost : null;
  const known = bySqlState[code];
  if (known !== undefined) return known;
  if (lostCodes.has(code) || isConnectionCode(code)) return words.lost;
  // A file that is missing has this code too; the socket of a database that is down has a telling name.
  return code === "ENOENT" && address?.includes(".s.PGSQL.") ? words.lost : null;
}

const isConnectionCode = (code: string) => code.length === 5 && code.startsWith(connectionClass);
