// Translates errors of the database itself for operators.

/**
 * Keys of this table: https://www.postgresql.org/docs/18/errcodes-appendix.html has codes of five characters in classes of two.
 */
const words = {
  full: "The database's disk is full. Free some space. Saved data is safe.",
  starting: "The database is starting. Try again in a moment.",
  lost: "The database is not responding. Quarterdeck reconnects automatically. If the problem persists, check the database's log.",
  refused:
    "The database refuses Quarterdeck's connections. Check its pg_hba.conf, its name, the password and TLS. Its log has the details.",
  crowded: "All database connections are in use. Try again in a moment.",
  conflict: "Something else changed the same data at the same time. Try again.",
  readOnly:
    "The database is read-only, as a standby is. Connect Quarterdeck to the primary database. Saved data is safe.",
};

/** For a service that keeps running. */
export const lostWords = words.lost;

/** SQLSTATE of a full disk. */
const fullDiskState = "53100";

/** Whether an error of the database means that its disk is full. */
export const isFullDisk = ({ code }: { code?: string | undefined }): boolean =>
  code === fullDiskState;

/** SQLSTATE of a write in a read-only transaction. */
const readOnlyState = "25006";

/** The database is read-only. Has the code that PostgreSQL uses for a rejected write. */
export class ReadOnlyDatabase extends Error {
  override name = "ReadOnlyDatabase";
  code = readOnlyState;
}

const bySqlState: Record<string, string> = {
  // A server that has taken over may have another pg_hba.conf, password or database than the one that this start used.
  "28000": words.refused,
  "28P01": words.refused,
  "3D000": words.refused,
  [readOnlyState]: words.readOnly,
  // Serialization failure and deadlock: PostgreSQL rolls back the whole transaction.
  "40001": words.conflict,
  "40P01": words.conflict,
  [fullDiskState]: words.full,
  "53300": words.crowded,
  // Shut down by an administrator, crashed, starting.
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

/** Errors of `pg` and its pool that have no code. */
const lostMessages =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|timeout expired$)/;

/** Of `pg`, for a server without TLS where the start found one with it. */
const withoutTls = "The server does not support SSL connections";

/**
 * Describes a problem of the database for operators. Only for errors of database calls, because a refused connection does not say
 * what it led to.
 * @returns null where the error has another cause, such as a violated constraint
 */
export function describeDatabaseError(error: unknown): string | null {
  // Drizzle wraps errors of `pg`, a service may wrap those, and a host with two addresses fails with one error for each.
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
  if (message === withoutTls) return words.refused;
  if (code === undefined) return lostMessages.test(message) ? words.lost : null;
  const known = bySqlState[code];
  if (known !== undefined) return known;
  if (lostCodes.has(code) || isConnectionCode(code)) return words.lost;
  // A missing file has this code too, so the name of PostgreSQL's socket tells whether the database is down.
  return code === "ENOENT" && address?.includes(".s.PGSQL.") ? words.lost : null;
}

const isConnectionCode = (code: string) => code.length === 5 && code.startsWith(connectionClass);
