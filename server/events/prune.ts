// Forgets what is older than the operator wants to keep: the timeline, events, what was sent of them.
import type { Clock } from "../clock.ts";
import type { Database } from "../store/database.ts";
import { and, isNotNull, isNull, lt, notInArray } from "../store/drizzle.ts";
import {
  activity,
  channelMessageEvents,
  channelMessages,
  events,
  webhookDeliveries,
} from "../store/tables.ts";

const dayMs = 24 * 3600 * 1000;

type PruneOptions = { db: Database; keepDays: number; clock: Clock };

export const createPrune =
  ({ db, keepDays, clock }: PruneOptions) =>
  async (): Promise<void> => {
    const before = new Date(clock.now() - keepDays * dayMs);
    await db.delete(activity).where(lt(activity.at, before));
    // What is still to be sent is kept, however old its event.
    await db
      .delete(webhookDeliveries)
      .where(
        and(lt(webhookDeliveries.created_at, before), isNull(webhookDeliveries.next_attempt_at)),
      );
    await db
      .delete(channelMessages)
      .where(and(lt(channelMessages.created_at, before), isNull(channelMessages.next_attempt_at)));
    await db
      .delete(events)
      .where(
        and(
          lt(events.created_at, before),
          isNotNull(events.dispatched_at),
          notInArray(
            events.id,
            db.select({ id: webhookDeliveries.event_id }).from(webhookDeliveries),
          ),
          notInArray(
            events.id,
            db.select({ id: channelMessageEvents.event_id }).from(channelMessageEvents),
          ),
        ),
      );
  };
