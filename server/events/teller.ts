// Makes deliveries and messages of events. It runs after the transaction that made an event, in one of its own:
// the outcome is stored first, and whatever goes wrong here does not touch it.
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import { createLoop } from "../jobs/loop.ts";
import type { Connection, Database } from "../store/database.ts";
import { asc, inArray, isNull, sql } from "../store/drizzle.ts";
import { events } from "../store/tables.ts";
import type { EventRow } from "./event.ts";

/** An event, and the sites whose receivers are to hear of it; none = it belongs to its server alone. */
export type ToldEvent = EventRow & { siteIds: number[] };

/** Makes, in the teller's transaction, what a kind of receiver sends later. */
export type Receive = (tx: Connection, told: ToldEvent[]) => Promise<void>;

export type TellerOptions = {
  db: Database;
  receivers: readonly Receive[];
  /** Called when something new is there to be sent. */
  onTold(told: readonly EventRow[]): void;
  clock: Clock;
  log: Logger;
};

const mostAtOnce = 500;
/** A notice of PostgreSQL comes sooner; this is for the one that got lost. */
const everyMs = 1000;
/** Any number will do, as long as every instance on one database takes the same. */
const tellingLock = 7_382_146;

export function createTeller({ db, receivers, onTold, clock, log }: TellerOptions) {
  /** @returns the events that were told */
  const tellSome = (): Promise<EventRow[]> =>
    db.transaction(async (tx) => {
      // One at a time over all instances, so that bursts are folded and nothing is told twice.
      const { rows } = await tx.execute<{ mine: boolean }>(
        sql`select pg_try_advisory_xact_lock(${tellingLock}) as mine`,
      );
      if (rows[0]?.mine !== true) return [];
      const untold = await tx
        .select()
        .from(events)
        .where(isNull(events.told_at))
        .orderBy(asc(events.id))
        .limit(mostAtOnce);
      if (untold.length === 0) return [];
      const told = await withSites(tx, untold);
      for (const receive of receivers) await receive(tx, told);
      await tx
        .update(events)
        .set({ told_at: new Date(clock.now()) })
        .where(
          inArray(
            events.id,
            untold.map(({ id }) => id),
          ),
        );
      return untold;
    });

  return createLoop({
    name: "telling of events",
    everyMs,
    async turn(signal) {
      for (let many = mostAtOnce; many === mostAtOnce && !signal.aborted;) {
        const told = await tellSome();
        many = told.length;
        if (many > 0) onTold(told);
      }
    },
    clock,
    log,
  });
}

async function withSites(tx: Connection, untold: EventRow[]): Promise<ToldEvent[]> {
  const databaseIds = [...new Set(untold.flatMap(({ database_id: id }) => id ?? []))];
  const { rows } =
    databaseIds.length === 0
      ? { rows: [] }
      : await tx.execute<{ database_id: number; site_id: number }>(sql`
          select wanted.id as database_id, sites.id as site_id
          from unnest(${sql.param(databaseIds)}::int[]) as wanted(id)
          join sites on sites.entry -> 'databases' @> to_jsonb(wanted.id)`);
  return untold.map((event) => ({
    ...event,
    siteIds:
      event.site_id === null
        ? rows.filter((row) => row.database_id === event.database_id).map((row) => row.site_id)
        : [event.site_id],
  }));
}
