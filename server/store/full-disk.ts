// Whether the disk of a database is full, which no query that only reads finds out.
import type pg from "pg";
import { describeDatabaseError, isFullDisk } from "./database-error.ts";
import { type SQL, sql } from "./drizzle.ts";

/** 2 MB, more than a table's files have left of rows that are gone. */
const takeRoom = sql`create temporary table room on commit drop as
  select repeat(md5(i::text), 60) as filling from generate_series(1, 1000) as i`;

type Told = { on(event: "errorMessage", listener: (message: { code?: string }) => void): unknown };

/** Remembers that a change was refused for want of room, until there is some again. */
export function watchForFullDisk(pool: pg.Pool) {
  let wasFull = false;
  pool.on("connect", (client) => {
    // Its type leaves it out; every `pg.Client` has it. Otherwise only those who asked hear of an error.
    const { connection } = client as unknown as { connection: Told };
    connection.on("errorMessage", (message) => {
      if (isFullDisk(message)) wasFull = true;
    });
  });
  return {
    /**
     * @param run in a transaction, which ends with the statement
     * @throws what the database says while its disk is still full
     */
    async refuseFull(run: (statement: SQL) => Promise<unknown>): Promise<void> {
      if (!wasFull) return;
      try {
        await run(takeRoom);
      } catch (error) {
        // An account that may make no table of its own finds out with the next change.
        if (describeDatabaseError(error) !== null) throw error;
      }
      wasFull = false;
    },
  };
}
