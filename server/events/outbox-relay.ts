// Turns stored events into deliveries and messages, in a transaction of its own: the outcome was stored before, and a failure
// here does not touch it.
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import { createLoop } from "../jobs/loop.ts";
import type { Connection, Database } from "../store/database.ts";
import { asc, inArray, isNull, sql } from "../store/drizzle.ts";
import { events } from "../store/tables/events.ts";
import { sites } from "../store/tables/inventory.ts";
import { roomOf, type EventRow } from "./event.ts";

/** An event, and the sites whose receivers get it; none = it belongs to its server alone. */
export type DispatchedEvent = EventRow & { siteIds: number[] };

/** Stores, in the relay's transaction, what a kind of receiver sends later. */
export type Receive = (tx: Connection, dispatched: DispatchedEvent[]) => Promise<void>;

type OutboxRelayOptions = {
  db: Database;
  receivers: readonly Receive[];
  /** Called with events that were dispatched. */
  onDispatched(dispatched: readonly EventRow[]): void;
  clock: Clock;
  log: Logger;
};

/** The channel of PostgreSQL on which a trigger announces new events. */
export const eventsChannel = "quarterdeck_events";

const maxBatch = 500;
/** Interval of polls, for notices that were lost. */
const everyMs = 1000;
/** Pause between batches, which cost nearly the same whatever their size. */
const restMs = 25;
/** Arbitrary key of the advisory lock, the same in all instances. */
const relayLock = 7_382_146;

export function createOutboxRelay({ db, receivers, onDispatched, clock, log }: OutboxRelayOptions) {
  /** Usually there is nothing: this takes one statement instead of the four of a transaction. */
  async function isAnyPending(): Promise<boolean> {
    const { rows } = await db.execute<{ any: boolean }>(
      sql`select exists (select from ${events} where ${isNull(events.dispatched_at)}) as any`,
    );
    return rows[0]?.any === true;
  }

  /** @returns the events that were dispatched */
  const dispatchBatch = (): Promise<EventRow[]> =>
    db.transaction(async (tx) => {
      // One batch at a time over all instances, so that bursts are coalesced and nothing is dispatched twice.
      const { rows } = await tx.execute<{ mine: boolean }>(
        sql`select pg_try_advisory_xact_lock(${relayLock}) as mine`,
      );
      if (rows[0]?.mine !== true) return [];
      const pending = await tx
        .select()
        .from(events)
        .where(isNull(events.dispatched_at))
        .orderBy(asc(events.id))
        .limit(maxBatch);
      if (pending.length === 0) return [];
      const dispatched = await withSites(tx, pending);
      for (const receive of receivers) await receive(tx, dispatched);
      await tx
        .update(events)
        .set({ dispatched_at: new Date(clock.now()) })
        .where(
          inArray(
            events.id,
            pending.map(({ id }) => id),
          ),
        );
      return pending;
    });

  return createLoop({
    name: "dispatch of events",
    everyMs,
    restMs,
    async turn(signal) {
      if (!(await isAnyPending())) return;
      for (let many = maxBatch; many === maxBatch && !signal.aborted;) {
        const dispatched = await dispatchBatch();
        many = dispatched.length;
        if (many > 0) onDispatched(dispatched);
      }
    },
    clock,
    log,
  });
}

/** Whether an event is about the server itself, and so about all its sites. */
export const isOfServer = ({ type }: Pick<EventRow, "type">): boolean => roomOf(type) === "server";

async function withSites(tx: Connection, pending: EventRow[]): Promise<DispatchedEvent[]> {
  const databaseIds = [...new Set(pending.flatMap(({ database_id: id }) => id ?? []))];
  const { rows } =
    databaseIds.length === 0
      ? { rows: [] }
      : await tx.execute<{ database_id: number; site_id: number }>(sql`
          select wanted.id as database_id, sites.id as site_id
          from unnest(${sql.param(databaseIds)}::int[]) as wanted(id)
          join sites on sites.entry -> 'databases' @> to_jsonb(wanted.id)`);
  const away = pending.filter(isOfServer).flatMap(({ server_id: id }) => id ?? []);
  const onServers =
    away.length === 0
      ? []
      : await tx
          .select({ id: sites.id, serverId: sites.server_id })
          .from(sites)
          .where(inArray(sites.server_id, away));
  const sitesOf = (event: EventRow) =>
    onServers.filter(({ serverId }) => serverId === event.server_id).map(({ id }) => id);
  return pending.map((event) => ({
    ...event,
    siteIds: isOfServer(event)
      ? sitesOf(event)
      : event.site_id === null
        ? rows.filter((row) => row.database_id === event.database_id).map((row) => row.site_id)
        : [event.site_id],
  }));
}
