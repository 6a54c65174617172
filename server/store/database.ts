// The connection to PostgreSQL, wherever it runs, and the migrations that bring it up to date.
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
import * as tables from "./tables.ts";

export type Database = NodePgDatabase<typeof tables> & { $client: pg.Pool };
/** A transaction, or the database itself where none is needed. */
export type Connection = Pick<Database, "select" | "insert" | "update" | "delete" | "execute">;

export type OpenDatabase = {
  db: Database;
  /** Answers whether a query gets through and could change something; throws what stood in its way. */
  ping(): Promise<void>;
  /** Its connections just now; `waiting` counts the queries that have none yet. */
  pool(): { open: number; idle: number; waiting: number; max: number };
  close(): Promise<void>;
};

/** Any number will do, as long as every instance on one database takes the same. */
export const migrationLock = 7_382_145;

export const migrationsFolder = fileURLToPath(new URL("migrations", import.meta.url));

/**
 * Connects and migrates.
 * @param options as of `pg.Pool`: a `connectionString`, or host and user
 * @param onIdleError called when a connection breaks that nobody is using
 * @param onSecondConnection called when code inside a transaction asks the pool for a connection; by default it throws
 */
export async function openDatabase(
  options: ConnectionOptions,
  onIdleError: (error: Error) => void,
  onSecondConnection?: (error: SecondConnection) => void,
): Promise<OpenDatabase> {
  const withDefaults = {
    max: 10,
    connectionTimeoutMillis: 5000,
    // A dashboard asks again after 30 s at most, and the first statements of a connection take several times as long as the next.
    idleTimeoutMillis: 40_000,
    ...options,
  };
  await changeTablesAlone(withDefaults, bringUpToDate);
  return connectTo(withDefaults, onIdleError, onSecondConnection);
}

/**
 * Connects to a database whose tables are another process's to change: none are made here.
 * @throws DatabaseMoved, NewerSchema
 */
export async function openUnchanged(options: ConnectionOptions): Promise<OpenDatabase> {
  const opened = connectTo({ max: 1, connectionTimeoutMillis: 5000, ...options }, () => undefined);
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
  // Without a listener, a database that goes away would end the service.
  pool.on("error", (error) => {
    // `end` does not wait for the server to let go, and the embedded one is stopped next.
    if (!isClosing) onIdleError(error);
  });
  // A pool listens to the connections that nobody uses alone. One that is lost between two queries of a transaction fails the
  // next of them; it must not end the service as well.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  const disk = watchForFullDisk(pool);
  const db = drizzle(pool, { schema: tables });
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
 * Runs what makes or changes tables while no other instance does: neither Drizzle's migrator nor the job queue's installation
 * can bear another one beside it. The lock is held by a transaction, on a connection of its own: one of a session may stay
 * behind where a pooler hands out connections.
 */
export async function changeTablesAlone(
  options: ConnectionOptions,
  change: (pool: pg.Pool, lock: pg.PoolClient) => Promise<unknown>,
): Promise<void> {
  // A statement that rewrites a large table says nothing until it has.
  const patient = {
    connectionTimeoutMillis: 5000,
    ...options,
    Client: StorableClient,
    max: 2,
    silenceLimitMs: 0,
  };
  const pool = new pg.Pool(patient);
  // What is lost fails the next query.
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
      // It ends the transaction as well, whatever state that is in.
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
