// The messages to channels, and the events that each coalesces.
import type { Connection, Database } from "../store/database.ts";
import type { EventRow } from "../events/event.ts";
import { isVisibleMessage, type Visible } from "../events/visible-messages.ts";
import { and, desc, eq, gt, inArray, isNotNull, type SQL, sql } from "../store/drizzle.ts";
import { insertedRow } from "../store/rows.ts";
import { channelMessageEvents, channelMessages, events } from "../store/tables.ts";

export type MessageRow = typeof channelMessages.$inferSelect;
type Kind = { channelId: number; event: string };
type NewMessageRow = typeof channelMessages.$inferInsert;

export type FoundMessage = {
  message: MessageRow;
  /** All of its events are about the same thing. */
  isAboutOne: boolean;
  isOfOneKind: boolean;
};

/** What a message says of its events is made of so many of them; the rest is a number. */
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
     * The message of a channel that tells the newest of something. It is looked for from the thing's events on, newest first:
     * most messages are about others.
     * @param key what its events are about
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
     * A message of one kind of event that is due by then, for more of the kind.
     * @param behind the message that the event has to wait for; null = nothing
     * @returns the newest one that was not taken to be sent yet, and that waits for that message alone
     */
    async openOfKind(
      tx: Connection,
      { channelId, event, dueBy, behind }: Kind & { dueBy: Date; behind: number | null },
    ) {
      // What is older than that message, and about the same, holds that one back as well.
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

    /** Coalesces one more event with a message. @returns false when the message has been taken to be sent */
    async coalesce(tx: Connection, id: number, change: { event: string; title: string }) {
      const changed = await tx
        .update(channelMessages)
        .set({ count: sql`${channelMessages.count} + 1`, ...change })
        // An attempt counts from its beginning, so this tells a message that waits from one on its way.
        .where(and(eq(channelMessages.id, id), eq(channelMessages.attempts, 0)))
        .returning({ id: channelMessages.id });
      return changed.length > 0;
    },

    /**
     * The newest message of each channel, of those that may be seen. One that was not tried yet has what the provider said to one
     * that is tried again: that is why it waits.
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
     * The oldest due message of a channel that no older one holds back.
     * @param heldUntil before it the provider wants nothing, and gets only what somebody asked for
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

    /** Counts an attempt that begins: from here on nothing is coalesced with the message. @returns it as it is now */
    async begin(tx: Connection, id: number): Promise<MessageRow | null> {
      const [row] = await tx
        .update(channelMessages)
        .set({ attempts: sql`${channelMessages.attempts} + 1` })
        .where(eq(channelMessages.id, id))
        .returning();
      return row ?? null;
    },

    /** Takes back an attempt that a stop cut off. The first one stays: the provider may have that message already. */
    async forgetAttempt(tx: Connection, id: number): Promise<void> {
      await tx
        .update(channelMessages)
        .set({ attempts: sql`greatest(${channelMessages.attempts} - 1, 1)` })
        .where(eq(channelMessages.id, id));
    },

    /** When a message of a channel is due next; null = none is left to send. */
    async nextOf(tx: Connection, channelId: number, heldUntil: Date): Promise<Date | null> {
      const { rows } = await tx.execute<{ due_at: string | Date | null }>(sql`
        with ${held(channelId)}
        select min(case when m.event = 'channel.test' then m.next_attempt_at
          else greatest(m.next_attempt_at, ${heldUntil}) end) as due_at from channel_messages m
        where m.channel_id = ${channelId} and m.next_attempt_at is not null and ${isFree}`);
      const dueAt = rows[0]?.due_at ?? null;
      return dueAt === null ? null : new Date(dueAt);
    },

    /** Makes due what would wait longer than any rule makes it: the clock has been set back since. */
    async endLongWaits(tx: Connection, now: Date, longestMs: number): Promise<void> {
      await tx
        .update(channelMessages)
        .set({ next_attempt_at: now })
        .where(gt(channelMessages.next_attempt_at, new Date(now.getTime() + longestMs)));
    },

    /** Channels that have something left to send. */
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

    /** The newest of the events that a message tells of, in the order in which they happened. */
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

/** The newest message `m` for which a condition holds. */
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
 * What each message of a channel that is still to be sent is about, and which of them an older one holds back that is about the
 * same. Looked at once for all: in a burst they are hundreds, and to compare each with each takes seconds.
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

/** Whether no older message of its channel, about something that `m` is about too, is still to be sent. */
const isFree = sql.raw("not exists (select from held where held.id = m.id)");

export type MessageStore = ReturnType<typeof createMessageStore>;
