// The public API of this folder: runs an embedded PostgreSQL in a folder. No file outside imports any other file of this folder.
// docs/embedded-database.md describes it for operators.
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { readPassword } from "./password.ts";
import { findPlace } from "./place.ts";
import { askServer, connectionTo, type Connection } from "./questions.ts";
import type { Log } from "./log.ts";
import { startInstance } from "./instance.ts";
import { toError } from "../../to-error.ts";

export { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

type EmbeddedPostgresOptions = {
  /** Used only by the database; created if missing. No other process may start a database here, so the caller holds a lock. */
  folder: string;
  log: Log;
  /** Called when the database goes down, and after each failed restart, with the reason for operators; null = it is up again. */
  onDiagnosis?: (reason: string | null) => void;
};

type EmbeddedPostgres = {
  /** Options for `pg.Pool`, unchanged when the database restarts. */
  connection: Connection;
  /** The account that the database runs as. */
  uid: number;
  /**
   * Shuts the database down in an orderly way, and by force after a deadline; no committed data is lost either way. Idempotent.
   */
  stop: () => Promise<void>;
  /** Requests a shutdown without waiting for it: for a process that exits now. */
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

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Returns how to connect to the database that another process runs in the folder.
 * @throws {EmbeddedPostgresError} no database responds
 */
export async function connectToRunning(folder: string): Promise<Connection> {
  const place = await findPlace(folder, silent);
  const password = await readPassword(place);
  try {
    if (password === null) throw new Error("its password is missing");
    await askServer(place, password);
    return connectionTo(place, password);
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The database in ${folder} doesn't respond (${toError(cause).message}), although Quarterdeck is running. If Quarterdeck was started with DATABASE_URL, set the same DATABASE_URL. Otherwise its log says what is wrong.`,
      { cause },
    );
  }
}
