// The public face of this folder: runs a PostgreSQL of its own in a folder. No file outside the folder imports any other file of it.
// What it promises to operators is in docs/embedded-database.md.
import type { Connection } from "./questions.ts";
import type { Log } from "./log.ts";
import { startInstance } from "./instance.ts";

export { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

type EmbeddedPostgresOptions = {
  /** For the database alone; made if missing. No other process may start a database here, so the caller holds a lock. */
  folder: string;
  log: Log;
  /** Told why the database is down, in operator's words, when it goes down and at each failed restart; null = it is up again. */
  onDiagnosis?: (reason: string | null) => void;
};

type EmbeddedPostgres = {
  /** For `pg.Pool`; stays the same when the database restarts. */
  connection: Connection;
  /** The account that the database runs as. */
  uid: number;
  /** Shuts the database down in good order, and by force past a deadline; no committed data is lost either way. Idempotent. */
  stop: () => Promise<void>;
  /** Tells the database to shut down and does not wait for it: for a process that exits now. */
  stopWithoutWaiting: () => void;
};

/**
 * Starts the database, or takes over the one that a killed process left running, and restarts it whenever it ends by itself.
 * @throws {EmbeddedPostgresError} the database cannot run; the message says why and what to do
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { connection, uid, stop, stopWithoutWaiting } = await startInstance(options);
  return { connection, uid, stop, stopWithoutWaiting };
}
