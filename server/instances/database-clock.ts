// The clock of the database. Instances that share a database use it to agree on what is due, because the clocks of their machines
// differ.
import type { Clock } from "../clock.ts";
import { createLoop } from "../jobs/loop.ts";
import type { Log } from "../log.ts";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";

/** How often the difference is measured, so that a clock that is set while the service runs is followed. */
const everyMs = 5000;

type DatabaseClockOptions = {
  db: Database;
  /** The clock of this machine. */
  clock: Clock;
  log: Log;
};

/**
 * Returns milliseconds since 1970.
 * @throws errors of the database
 */
export async function readDatabaseTime(db: Database): Promise<number> {
  const { rows } = await db.execute<{ now_ms: number }>(
    sql`select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("The database did not say what time it is.");
  return row.now_ms;
}

/** @throws errors of the database */
export async function createDatabaseClock({ db, clock, log }: DatabaseClockOptions) {
  /** How far the database's clock is ahead of this machine's. */
  let aheadMs = 0;

  async function compare(): Promise<void> {
    const askedMs = clock.now();
    const readMs = await readDatabaseTime(db);
    const answeredMs = clock.now();
    // The database read its clock between the two times. A known difference within these bounds is kept, so that the result does
    // not vary with the load of the machine.
    aheadMs = Math.min(Math.max(aheadMs, readMs - answeredMs), readMs - askedMs);
  }

  const loop = createLoop({
    name: "comparing the clock with the database's",
    everyMs,
    async turn() {
      // Other parts report that the database is unavailable; the known difference stays in use meanwhile.
      await compare().catch(() => undefined);
    },
    clock,
    log,
  });
  await compare();
  loop.wake();

  return {
    clock: { now: () => clock.now() + aheadMs, after: clock.after } satisfies Clock,
    stop: loop.stop,
  };
}
