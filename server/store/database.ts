// Connects to PostgreSQL, wherever it runs, and applies the migrations.
import { fileURLToPath } from "node:url";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import pg from "pg";
import { drizzle, migrate, sql } from "./drizzle.ts";
import { toError } from "../to-error.ts";
import { ReadOnlyDatabase } from "./database-error.ts";
import { refuseMoved } from "./move-mark.ts";
import { watchForFullDisk } from "./full-disk.ts";
import { GuardedPool, guardTransactions, type SecondConnection } from "./guarded-pool.ts";
import { noteSchema, refuseNewerSchema } from "./schema-version.ts";
import { StorableClient, type ConnectionOptions } from "./storable.ts";

export type Database = NodePgDatabase & { $client: pg.Pool };
/** A transaction, or the database itself. */
export type Connection = Pick<Database, "select" | "insert" | "update" | "delete" | "execute">;

export type OpenDatabase = {
  db: Database;
  /** Resolves if a query succeeds and the database is writable; throws the reason otherwise. */
  ping(): Promise<void>;
  /** Number of connections; `waiting` counts the queries that have none yet. */
  pool(): { open: number; idle: number; waiting: number; max: number };
  close(): Promise<void>;
};

/** Key of an advisory lock; an arbitrary number that all instances on a database share. */
export const migrationLock = 7_382_145;

/** How long a query waits for a connection. */
const requestPatienceMs = 5000;
/** Longer than a resolver takes that asks two dead name servers twice. */
export const startPatienceMs = 30_000;

/** Calls `tell` every few seconds until the database is open. */
export async function tellWait<Result>(
  opening: Promise<Result>,
  tell: () => void,
): Promise<Result> {
  const timer = setInterval(tell, 5000);
  try {
    return await opening;
  } finally {
    clearInterval(timer);
  }
}

export const migrationsFolder = fileURLToPath(new URL("migrations", import.meta.url));

/**
 * Connects and migrates.
 * @param options of `pg.Pool`: a `connectionString`, or host and user
 * @param onIdleError called when an idle connection breaks
 * @param onSecondConnection called when code inside a transaction asks the pool for a connection; by default it throws
 */
export async function openDatabase(
  options: ConnectionOptions,
  onIdleError: (error: Error) => void,
  onSecondConnection?: (error: SecondConnection) => void,
): Promise<OpenDatabase & { endStart(): void }> {
  const withDefaults = {
    max: 10,
    connectionTimeoutMillis: startPatienceMs,
    // Longer than the 30 s between polls of a dashboard, because the first statements of a connection take several times as long
    // as later ones.
    idleTimeoutMillis: 40_000,
    ...options,
  };
  await changeTablesAlone(withDefaults, bringUpToDate);
  const opened = connectTo(withDefaults, onIdleError, onSecondConnection);
  return {
    ...opened,
    /** Makes queries wait for a connection as long as a request may, and no longer as long as a start. */
    endStart() {
      const { connectionTimeoutMillis = requestPatienceMs } = options;
      opened.db.$client.options.connectionTimeoutMillis = connectionTimeoutMillis;
    },
  };
}

/**
 * Connects without migrating, to a database that another process may migrate.
 * @throws DatabaseMoved, NewerSchema
 */
export async function openUnchanged(options: ConnectionOptions): Promise<OpenDatabase> {
  const opened = connectTo(
    { max: 1, connectionTimeoutMillis: requestPatienceMs, ...options },
    () => undefined,
  );
  try {
    const client = await opened.db.$client.connect();
    try {
      await refuseMoved(client);
    } finally {
      client.release();
    }
    await refuseNewerSchema(opened.db);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function connectTo(
  options: ConnectionOptions,
  onIdleError: (error: Error) => void,
  onSecondConnection: (error: SecondConnection) => void = (error) => {
    throw error;
  },
): OpenDatabase {
  const pool = new GuardedPool({ ...options, Client: StorableClient }, onSecondConnection);
  let isClosing = false;
  // Without a listener, the error of a lost database would end the service.
  pool.on("error", (error) => {
    // `end` does not wait for the server to close its connections, and the embedded server is stopped next.
    if (!isClosing) onIdleError(error);
  });
  // A pool only listens to idle connections. An error of one that is lost between two queries of a transaction must not end the
  // service: the next query fails anyway.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  const disk = watchForFullDisk(pool);
  const db = drizzle(pool);
  guardTransactions(db);
  return {
    db,
    async ping() {
      const { rows } = await db.execute<{ is_read_only: boolean }>(
        sql`select current_setting('transaction_read_only')::boolean as is_read_only`,
      );
      if (rows[0]?.is_read_only === true) throw new ReadOnlyDatabase();
      await disk.refuseFull((statement) => db.transaction((tx) => tx.execute(statement)));
    },
    pool: () => ({
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: pool.options.max,
    }),
    close() {
      isClosing = true;
      return pool.end();
    },
  };
}

/**
 * Runs a change of the schema while no other instance does, because neither Drizzle's migrator nor the job queue's installation
 * may run concurrently. A transaction on a connection of its own holds the lock, because a session's lock could outlive the
 * client behind a connection pooler.
 */
export async function changeTablesAlone(
  options: ConnectionOptions,
  change: (pool: pg.Pool, lock: pg.PoolClient) => Promise<unknown>,
): Promise<void> {
  // A statement that rewrites a large table is silent until it has finished.
  const patient = {
    connectionTimeoutMillis: startPatienceMs,
    ...options,
    Client: StorableClient,
    max: 2,
    silenceLimitMs: 0,
  };
  const pool = new pg.Pool(patient);
  // The next query on a lost connection fails anyway.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => void client.on("error", () => undefined));
  try {
    const lock = await pool.connect();
    try {
      await lock.query("begin");
      await lock.query("select pg_advisory_xact_lock($1)", [migrationLock]);
      await change(pool, lock);
      await lock.query("commit");
    } catch (error) {
      // Closing the connection also ends the transaction, in whatever state it is.
      lock.release(toError(error));
      throw error;
    }
    lock.release();
  } finally {
    await pool.end();
  }
}

async function bringUpToDate(pool: pg.Pool, lock: pg.PoolClient): Promise<void> {
  await refuseMoved(lock);
  await refuseNewerSchema(drizzle(lock));
  await migrate(drizzle(pool), { migrationsFolder });
  await noteSchema(drizzle(lock));
}
