// Deletes old timeline entries, events, deliveries and messages.
import type { Clock } from "../clock.ts";
import type { Database } from "../store/database.ts";
import {
  and,
  asc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  notExists,
  sql,
  type SQLWrapper,
} from "../store/drizzle.ts";
import { activity } from "../store/tables/activity.ts";
import { events } from "../store/tables/events.ts";
import { channelMessageEvents, channelMessages } from "../store/tables/notifications.ts";
import { webhookDeliveries } from "../store/tables/webhooks.ts";

/** Physical location of a row. Deleting by id would search rows again that were found by another index. */
const ctid = sql`ctid`;
const isOneOf = (rows: SQLWrapper) => sql`${ctid} = any(array(${rows}))`;

const dayMs = 24 * 3600 * 1000;

type PruneOptions = {
  db: Database;
  keepDays: number;
  clock: Clock;
  /** Limit per statement: deleting millions of rows at once would hold locks, and occupy the disk, for minutes. */
  rowsAtOnce?: number;
};

export function createPrune({ db, keepDays, clock, rowsAtOnce = 1000 }: PruneOptions) {
  async function forgetActivity(before: Date): Promise<number> {
    const old = db
      .select({ ctid })
      .from(activity)
      .where(lt(activity.at, before))
      .orderBy(asc(activity.at))
      .limit(rowsAtOnce);
    const { rowCount } = await db.delete(activity).where(isOneOf(old));
    return rowCount ?? 0;
  }

  async function forgetMessages(before: Date): Promise<number> {
    const old = db
      .select({ ctid })
      .from(channelMessages)
      .where(and(lt(channelMessages.created_at, before), isNull(channelMessages.next_attempt_at)))
      .orderBy(asc(channelMessages.id))
      .limit(rowsAtOnce);
    const { rowCount } = await db.delete(channelMessages).where(isOneOf(old));
    return rowCount ?? 0;
  }

  /** Deletes events with their deliveries, but none with an unsent one. @returns the last id, or null at the end */
  async function forgetEvents(before: Date, after: number): Promise<number | null> {
    const old = await db
      .select({ id: events.id })
      .from(events)
      .where(
        and(gt(events.id, after), lt(events.created_at, before), isNotNull(events.dispatched_at)),
      )
      .orderBy(asc(events.id))
      .limit(rowsAtOnce);
    const ids = old.map(({ id }) => id);
    if (ids.length === 0) return null;
    await db
      .delete(webhookDeliveries)
      .where(
        and(
          inArray(webhookDeliveries.event_id, ids),
          lt(webhookDeliveries.created_at, before),
          isNull(webhookDeliveries.next_attempt_at),
        ),
      );
    const one = sql`1`;
    await db
      .delete(events)
      .where(
        and(
          inArray(events.id, ids),
          notExists(
            db
              .select({ one })
              .from(webhookDeliveries)
              .where(eq(webhookDeliveries.event_id, events.id)),
          ),
          notExists(
            db
              .select({ one })
              .from(channelMessageEvents)
              .where(eq(channelMessageEvents.event_id, events.id)),
          ),
        ),
      );
    return ids.at(-1) ?? null;
  }

  return async (): Promise<void> => {
    const before = new Date(clock.now() - keepDays * dayMs);
    while ((await forgetActivity(before)) > 0);
    while ((await forgetMessages(before)) > 0);
    for (let after: number | null = 0; after !== null;) after = await forgetEvents(before, after);
  };
}
