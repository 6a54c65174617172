// Stores the messages to channels, each with the events that it coalesces.
import type { Connection, Database } from "../store/database.ts";
import type { EventRow } from "../events/event.ts";
import { isVisibleMessage, type Visible } from "../events/visible-messages.ts";
import { and, desc, eq, gt, inArray, isNotNull, type SQL, sql } from "../store/drizzle.ts";
import { insertedRow } from "../store/rows.ts";
import { events } from "../store/tables/events.ts";
import { channelMessageEvents, channelMessages } from "../store/tables/notifications.ts";

export type MessageRow = typeof channelMessages.$inferSelect;
type Kind = { channelId: number; event: string };
type NewMessageRow = typeof channelMessages.$inferInsert;

export type FoundMessage = {
  message: MessageRow;
  /** Whether all of its events have the same subject. */
  isAboutOne: boolean;
  isOfOneKind: boolean;
};

/** Number of events that the text of a message is made from; of further ones it has only the count. */
const maxEventsRead = 500;

export function createMessageStore(db: Database) {
  return {
    transaction: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(steps),

    async insert(tx: Connection, values: NewMessageRow): Promise<MessageRow> {
      return insertedRow(await tx.insert(channelMessages).values(values).returning());
    },

    async addEvent(tx: Connection, messageId: number, eventId: number): Promise<void> {
      await tx.insert(channelMessageEvents).values({ message_id: messageId, event_id: eventId });
    },

    /**
     * Finds the message of a channel with the newest event about a subject. Searches from the subject's events on, newest first,
     * because most messages have other subjects.
     * @param key the subject, as of `orderKeyOf`
     * @param event only events of this kind
     */
    newestAbout: (tx: Connection, channelId: number, key: string, event?: string) =>
      find(
        tx,
        sql`m.id = (
          select o.id from events e
          join channel_message_events t on t.event_id = e.id
          join channel_messages o on o.id = t.message_id and o.channel_id = ${channelId}
          where e.order_key = ${key} ${event === undefined ? sql`` : sql`and e.type = ${event}`}
          order by e.id desc limit 1)`,
      ),

    /**
     * Finds a message that can take another event of the same type.
     * @param behind the message that the event has to wait for; null = none
     * @returns the newest message that is due in time, has no attempt yet, and waits for no other message than that one
     */
    async openOfKind(
      tx: Connection,
      { channelId, event, dueBy, behind }: Kind & { dueBy: Date; behind: number | null },
    ) {
      // Older messages about the same subject hold that one back as well.
      const waitsForThatAlone =
        behind === null
          ? isFree
          : sql`${behind} = all (
              select max(o.id) from unsent u left join unsent o on o.order_key = u.order_key and o.id < u.id
              where u.id = m.id group by u.order_key)`;
      const found = await find(
        tx,
        sql`m.channel_id = ${channelId} and m.event = ${event} and m.status = 'pending' and m.attempts = 0
          and m.next_attempt_at <= ${dueBy} and ${waitsForThatAlone}`,
        sql`with ${held(channelId)}`,
      );
      return found?.isOfOneKind === true ? found : null;
    },

    /** Coalesces one more event with a message. @returns false where its first attempt has begun */
    async coalesce(tx: Connection, id: number, change: { event: string; title: string }) {
      const changed = await tx
        .update(channelMessages)
        .set({ count: sql`${channelMessages.count} + 1`, ...change })
        // Attempts count from their beginning, so 0 means that none has begun.
        .where(and(eq(channelMessages.id, id), eq(channelMessages.attempts, 0)))
        .returning({ id: channelMessages.id });
      return changed.length > 0;
    },

    /**
     * Returns the newest visible message of each channel. A message without an attempt has the provider's response to the one that
     * is being retried, since that is what it waits for.
     */
    async newestOf(channelIds: readonly number[], visible: Visible): Promise<MessageRow[]> {
      const newest = (ids: readonly number[], isTriedAgain?: SQL) =>
        ids.length === 0
          ? []
          : db
              .selectDistinctOn([channelMessages.channel_id])
              .from(channelMessages)
              .where(
                and(
                  inArray(channelMessages.channel_id, [...ids]),
                  isVisibleMessage("channel_messages", visible),
                  isTriedAgain,
                ),
              )
              .orderBy(channelMessages.channel_id, desc(channelMessages.id));
      const rows = await newest(channelIds);
      const waiting = rows.filter(
        ({ attempts, event }) => attempts === 0 && event !== "channel.test",
      );
      const triedAgain = await newest(
        waiting.map(({ channel_id: id }) => id),
        and(eq(channelMessages.status, "retrying"), isNotNull(channelMessages.next_attempt_at)),
      );
      return rows.map((row) => {
        const held = waiting.includes(row)
          ? triedAgain.find(({ channel_id: id }) => id === row.channel_id)
          : undefined;
        return { ...row, answer: row.answer ?? held?.answer ?? null };
      });
    },

    /**
     * Returns the oldest due message of a channel that no older one holds back.
     * @param heldUntil when the provider takes messages again; before that, only tests by hand are due
     */
    async due(channelId: number, now: Date, heldUntil: Date): Promise<MessageRow | null> {
      const { rows } = await db.execute<{ id: number }>(sql`
        with ${held(channelId)}
        select m.id from channel_messages m
        where m.channel_id = ${channelId} and m.next_attempt_at <= ${now}
          and (${heldUntil} <= ${now} or m.event = 'channel.test') and ${isFree}
        order by m.id limit 1`);
      const [row] = await db
        .select()
        .from(channelMessages)
        .where(eq(channelMessages.id, rows[0]?.id ?? 0));
      return row ?? null;
    },

    /** Counts an attempt at its beginning, from which on no event is coalesced with the message. @returns the updated row */
    async begin(tx: Connection, id: number): Promise<MessageRow | null> {
      const [row] = await tx
        .update(channelMessages)
        .set({ attempts: sql`${channelMessages.attempts} + 1` })
        .where(eq(channelMessages.id, id))
        .returning();
      return row ?? null;
    },

    /** Uncounts an attempt that a stop interrupted, except for the first: the provider may have that message already. */
    async forgetAttempt(tx: Connection, id: number): Promise<void> {
      await tx
        .update(channelMessages)
        .set({ attempts: sql`greatest(${channelMessages.attempts} - 1, 1)` })
        .where(eq(channelMessages.id, id));
    },

    /** Returns when a message of a channel is due next; null = none is left to send. */
    async nextOf(tx: Connection, channelId: number, heldUntil: Date): Promise<Date | null> {
      const { rows } = await tx.execute<{ due_at: string | Date | null }>(sql`
        with ${held(channelId)}
        select min(case when m.event = 'channel.test' then m.next_attempt_at
          else greatest(m.next_attempt_at, ${heldUntil}) end) as due_at from channel_messages m
        where m.channel_id = ${channelId} and m.next_attempt_at is not null and ${isFree}`);
      const dueAt = rows[0]?.due_at ?? null;
      return dueAt === null ? null : new Date(dueAt);
    },

    /** Makes messages due that would wait longer than any rule allows, because the clock was set back. */
    async endLongWaits(tx: Connection, now: Date, longestMs: number): Promise<void> {
      await tx
        .update(channelMessages)
        .set({ next_attempt_at: now })
        .where(gt(channelMessages.next_attempt_at, new Date(now.getTime() + longestMs)));
    },

    /** Returns the channels with messages left to send. */
    async channelsWithUnsent(tx: Connection): Promise<number[]> {
      const rows = await tx
        .select({ id: channelMessages.channel_id })
        .from(channelMessages)
        .where(isNotNull(channelMessages.next_attempt_at))
        .groupBy(channelMessages.channel_id)
        .orderBy(channelMessages.channel_id);
      return rows.map(({ id }) => id);
    },

    async update(tx: Connection, id: number, change: Partial<NewMessageRow>): Promise<void> {
      await tx.update(channelMessages).set(change).where(eq(channelMessages.id, id));
    },

    /** Returns the newest events of a message, oldest of them first. */
    eventsOf: (messageId: number): Promise<EventRow[]> =>
      db
        .select({ event: events })
        .from(channelMessageEvents)
        .innerJoin(events, eq(events.id, channelMessageEvents.event_id))
        .where(eq(channelMessageEvents.message_id, messageId))
        .orderBy(desc(events.id))
        .limit(maxEventsRead)
        .then((rows) => rows.map(({ event }) => event).toReversed()),
  };
}

/** Finds the newest message `m` that fulfills a condition. */
async function find(
  tx: Connection,
  condition: ReturnType<typeof sql>,
  before = sql``,
): Promise<FoundMessage | null> {
  const { rows } = await tx.execute<{ id: number; keys: number; kinds: number }>(sql`
    ${before}
    select m.id, count(distinct e.order_key)::int as keys, count(distinct e.type)::int as kinds
    from (
      select m.id from channel_messages m where ${condition} order by m.id desc limit 1
    ) m
    join channel_message_events t on t.message_id = m.id
    join events e on e.id = t.event_id
    group by m.id`);
  const [found] = rows;
  if (found === undefined) return null;
  const [message] = await tx.select().from(channelMessages).where(eq(channelMessages.id, found.id));
  return message === undefined
    ? null
    : { message, isAboutOne: found.keys === 1, isOfOneKind: found.kinds === 1 };
}

/**
 * The unsent messages of a channel that wait for an older one about the same subject. One query for all: a burst has hundreds of
 * messages, and comparing each pair takes seconds.
 */
const held = (channelId: number) => sql`
  unsent as materialized (
    select m.id, e.order_key
    from channel_messages m
    join channel_message_events t on t.message_id = m.id
    join events e on e.id = t.event_id
    where m.channel_id = ${channelId} and m.next_attempt_at is not null
  ),
  held as materialized (
    select u.id from unsent u
    join (select order_key, min(id) as id from unsent group by order_key) oldest
      on oldest.order_key = u.order_key and oldest.id < u.id
  )`;

/** Whether no older unsent message of the channel shares a subject with `m`. */
const isFree = sql.raw("not exists (select from held where held.id = m.id)");

export type MessageStore = ReturnType<typeof createMessageStore>;
