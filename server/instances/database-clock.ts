// The time of the database, by which the instances that share it agree on what is due: the clocks of their machines differ.
import type { Clock } from "../clock.ts";
import { createLoop } from "../jobs/loop.ts";
import type { Log } from "../log.ts";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";

/** A clock that is set while the service runs is followed so soon. */
const everyMs = 5000;

type DatabaseClockOptions = {
  db: Database;
  /** This machine's. */
  clock: Clock;
  log: Log;
};

/** Milliseconds since 1970. @throws what the database says */
export async function readDatabaseTime(db: Database): Promise<number> {
  const { rows } = await db.execute<{ now_ms: number }>(
    sql`select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("The database did not say what time it is.");
  return row.now_ms;
}

/** @throws what the database says */
export async function createDatabaseClock({ db, clock, log }: DatabaseClockOptions) {
  /** By how much the database's clock is ahead of this machine's. */
  let aheadMs = 0;

  async function compare(): Promise<void> {
    const askedMs = clock.now();
    const readMs = await readDatabaseTime(db);
    const answeredMs = clock.now();
    // It was read between the two. What is known and lies between them is as good, so that the time doesn't come and go by how
    // busy the machine is.
    aheadMs = Math.min(Math.max(aheadMs, readMs - answeredMs), readMs - askedMs);
  }

  const loop = createLoop({
    name: "comparing the clock with the database's",
    everyMs,
    async turn() {
      // Others say that the database is away; until it is back, what is known goes on.
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
