// What channels are told: the messages' rows, and the events that are folded into each.
import type { Connection, Database } from "../store/database.ts";
import type { EventRow } from "../events/event.ts";
import { and, asc, desc, eq, inArray, sql } from "../store/drizzle.ts";
import { channelMessageEvents, channelMessages, events } from "../store/tables.ts";

export type MessageRow = typeof channelMessages.$inferSelect;
export type NewMessageRow = typeof channelMessages.$inferInsert;

/** What a message says of its events is made of so many of them; the rest is a number. */
const mostEventsRead = 500;

export function createMessageStore(db: Database) {
  return {
    transaction: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(steps),

    async insert(tx: Connection, values: NewMessageRow): Promise<MessageRow> {
      const [row] = await tx.insert(channelMessages).values(values).returning();
      if (row === undefined) throw new Error("An insert answered no row.");
      return row;
    },

    async addEvent(tx: Connection, messageId: number, eventId: number): Promise<void> {
      await tx.insert(channelMessageEvents).values({ message_id: messageId, event_id: eventId });
    },

    /** The newest message of a channel that tells of this kind of event. */
    async newestOfKind(tx: Connection, channelId: number, event: string) {
      const [row] = await tx
        .select()
        .from(channelMessages)
        .where(and(eq(channelMessages.channel_id, channelId), eq(channelMessages.event, event)))
        .orderBy(desc(channelMessages.id))
        .limit(1);
      return row ?? null;
    },

    /** Folds one more event into a message. @returns false when the message has been taken to be sent */
    async fold(tx: Connection, id: number, title: string): Promise<boolean> {
      const changed = await tx
        .update(channelMessages)
        .set({ count: sql`${channelMessages.count} + 1`, title })
        // An attempt counts from its claim on, so this tells a message that waits from one on its way.
        .where(and(eq(channelMessages.id, id), eq(channelMessages.attempts, 0)))
        .returning({ id: channelMessages.id });
      return changed.length > 0;
    },

    /** The newest message of each channel. */
    async newestOf(channelIds: readonly number[]): Promise<MessageRow[]> {
      if (channelIds.length === 0) return [];
      return db
        .selectDistinctOn([channelMessages.channel_id])
        .from(channelMessages)
        .where(inArray(channelMessages.channel_id, [...channelIds]))
        .orderBy(channelMessages.channel_id, desc(channelMessages.id));
    },

    /** Takes at most one due message of each channel that nobody is at. */
    async claim(options: { now: Date; until: Date; busy: readonly number[]; most: number }) {
      const { now, until, busy, most } = options;
      const { rows } = await db.execute<{ id: number }>(sql`
        update channel_messages m set next_attempt_at = ${until}, attempts = m.attempts + 1
        from (
          select min(id) as id from channel_messages
          where next_attempt_at <= ${now} and not channel_id = any(${sql.param([...busy])}::int[])
          group by channel_id order by min(next_attempt_at) limit ${most}
        ) due
        where m.id = due.id and m.next_attempt_at <= ${now}
        returning m.id`);
      const ids = rows.map(({ id }) => id);
      if (ids.length === 0) return [];
      return db.select().from(channelMessages).where(inArray(channelMessages.id, ids));
    },

    async update(tx: Connection, id: number, change: Partial<NewMessageRow>): Promise<void> {
      await tx.update(channelMessages).set(change).where(eq(channelMessages.id, id));
    },

    /** The first of the events that a message tells of. */
    eventsOf: (messageId: number): Promise<EventRow[]> =>
      db
        .select({ event: events })
        .from(channelMessageEvents)
        .innerJoin(events, eq(events.id, channelMessageEvents.event_id))
        .where(eq(channelMessageEvents.message_id, messageId))
        .orderBy(asc(events.id))
        .limit(mostEventsRead)
        .then((rows) => rows.map(({ event }) => event)),
  };
}

export type MessageStore = ReturnType<typeof createMessageStore>;
