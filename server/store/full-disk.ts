// Detects whether the disk of a database is full, which queries that only read do not notice.
import type pg from "pg";
import { describeDatabaseError, isFullDisk } from "./database-error.ts";
import { type SQL, sql } from "./drizzle.ts";

/** Writes 2 MB, more than the free space that deleted rows leave in a table's files. */
const takeRoom = sql`create temporary table room on commit drop as
  select repeat(md5(i::text), 60) as filling from generate_series(1, 1000) as i`;

type Told = { on(event: "errorMessage", listener: (message: { code?: string }) => void): unknown };

/** Remembers that a write failed because of a full disk, until there is space again. */
export function watchForFullDisk(pool: pg.Pool) {
  let wasFull = false;
  pool.on("connect", (client) => {
    // The types lack `connection`, which every `pg.Client` has. Without this listener, only the caller of a query would see its
    // error.
    const { connection } = client as unknown as { connection: Told };
    connection.on("errorMessage", (message) => {
      if (isFullDisk(message)) wasFull = true;
    });
  });
  return {
    /**
     * Tries a write if the last one failed because of a full disk.
     * @param run executes the statement in a transaction of its own
     * @throws the database's error while its disk is still full
     */
    async refuseFull(run: (statement: SQL) => Promise<unknown>): Promise<void> {
      if (!wasFull) return;
      try {
        await run(takeRoom);
      } catch (error) {
        // A role that may not create temporary tables notices with its next write.
        if (describeDatabaseError(error) !== null) throw error;
      }
      wasFull = false;
    },
  };
}
