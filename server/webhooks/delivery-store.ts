// Queries of deliveries. A delivery stays due until the outcome of its attempt is stored: a service that is killed meanwhile
// sends it again, and the receiver recognizes the message by its id.
import { listFilters } from "../http/list-filters.ts";
import type { Connection, Database } from "../store/database.ts";
import { and, asc, desc, eq, gt, inArray, isNotNull, sql } from "../store/drizzle.ts";
import { createFilteredRows, type ListRequest } from "../store/filtered-rows.ts";
import { insertedRow, insertRows } from "../store/rows.ts";
import { events } from "../store/tables/events.ts";
import { webhookAttempts, webhookDeliveries, webhooks } from "../store/tables/webhooks.ts";
import type { EventRow } from "../events/event.ts";
import type { WebhookRow } from "./webhook-store.ts";

type DeliveryRow = typeof webhookDeliveries.$inferSelect;
export type NewDeliveryRow = typeof webhookDeliveries.$inferInsert;
export type AttemptRow = typeof webhookAttempts.$inferSelect;
export type DeliveryWithEvent = {
  delivery: DeliveryRow;
  event: EventRow;
  /** An unfinished older delivery about the same subject, which is sent first. */
  waitsFor?: number | null;
};

/** A delivery, and when it was due for the attempt that is about to be made. */
export type Due = { id: number; dueAt: Date };

export function createDeliveryStore(db: Database) {
  const readList = createFilteredRows(db, webhookDeliveries, listFilters.listDeliveries, {
    id: webhookDeliveries.id,
    // Unused, because `list` searches for ids with `hasId`: a substring search would find a number inside of message ids.
    search: [webhookDeliveries.id],
    status: sql`${webhookDeliveries.status}`,
    sorts: {},
  });

  const withEvent = () =>
    db
      .select({ delivery: webhookDeliveries, event: events, waitsFor })
      .from(webhookDeliveries)
      .innerJoin(events, eq(events.id, webhookDeliveries.event_id));

  /** Prepared once, because it runs before each attempt. */
  const webhooksOfDue = db
    .select({
      id: webhookDeliveries.id,
      dueAt: webhookDeliveries.next_attempt_at,
      webhook: webhooks,
    })
    .from(webhookDeliveries)
    .innerJoin(webhooks, eq(webhooks.id, webhookDeliveries.webhook_id))
    .where(
      and(
        sql`${webhookDeliveries.id} = any(${sql.placeholder("ids")}::int[])`,
        maySend(sql.placeholder("now")),
      ),
    )
    // The empty name creates no prepared statement in PostgreSQL, because a pooler may send each query to another connection.
    .prepare("");

  return {
    /** @param events types of events; null = all */
    async list(webhookId: number, request: ListRequest, events: readonly string[] | null) {
      const isOfEvents =
        events === null
          ? undefined
          : sql`${webhookDeliveries.event_id} in (select id from events where type = any(${sql.param([...events])}))`;
      const { wanted = null, ...page } = request;
      const scope = and(
        eq(webhookDeliveries.webhook_id, webhookId),
        isOfEvents,
        ...(wanted?.words ?? []).filter((word) => word !== "delivery").map(hasId),
      );
      const { rows, ...counted } = await readList(scope, {
        ...page,
        wanted: wanted && { ...wanted, words: [] },
      });
      const ids = rows.map(({ id }) => id);
      const found =
        ids.length === 0 ? [] : await withEvent().where(inArray(webhookDeliveries.id, ids));
      const byId = new Map(found.map((one) => [one.delivery.id, one]));
      return { rows: ids.flatMap((id) => byId.get(id) ?? []), ...counted };
    },

    async byId(id: number): Promise<DeliveryWithEvent | null> {
      const [row] = await withEvent().where(eq(webhookDeliveries.id, id));
      return row ?? null;
    },

    /** Returns the newest delivery of each webhook. */
    async newestOf(webhookIds: readonly number[]): Promise<DeliveryWithEvent[]> {
      if (webhookIds.length === 0) return [];
      const { rows } = await db.execute<{ id: number }>(sql`
        select newest.id
        from unnest(${sql.param([...webhookIds])}::int[]) as wanted(id),
          lateral (
            select id from webhook_deliveries where webhook_id = wanted.id order by id desc limit 1
          ) newest`);
      const ids = rows.map(({ id }) => id);
      return ids.length === 0 ? [] : withEvent().where(inArray(webhookDeliveries.id, ids));
    },

    /** @returns the attempts of a delivery, newest first */
    attempts: (deliveryId: number): Promise<AttemptRow[]> =>
      db
        .select()
        .from(webhookAttempts)
        .where(eq(webhookAttempts.delivery_id, deliveryId))
        .orderBy(desc(webhookAttempts.id)),

    insert: async (tx: Connection, row: NewDeliveryRow): Promise<DeliveryRow> =>
      insertedRow(await tx.insert(webhookDeliveries).values(row).returning()),

    /** Inserts rows, which must have the same columns. */
    insertAll: (tx: Connection, rows: readonly NewDeliveryRow[]): Promise<void> =>
      insertRows(tx, webhookDeliveries, rows),

    async update(tx: Connection, id: number, change: Partial<NewDeliveryRow>) {
      const [row] = await tx
        .update(webhookDeliveries)
        .set(change)
        .where(eq(webhookDeliveries.id, id))
        .returning();
      return row ?? null;
    },

    /** Makes retries due now, and restarts the schedule of their waits. */
    async retryNow(tx: Connection, webhookId: number, now: Date): Promise<void> {
      await tx
        .update(webhookDeliveries)
        .set({ next_attempt_at: now, round_attempts: 0 })
        .where(
          and(
            eq(webhookDeliveries.webhook_id, webhookId),
            eq(webhookDeliveries.status, "retrying"),
            isNotNull(webhookDeliveries.next_attempt_at),
          ),
        );
    },

    /** Makes deliveries due now that would wait longer than the longest wait, because the clock was set back. */
    async endLongWaits(tx: Connection, now: Date, longestMs: number): Promise<void> {
      await tx
        .update(webhookDeliveries)
        .set({ next_attempt_at: now })
        .where(gt(webhookDeliveries.next_attempt_at, new Date(now.getTime() + longestMs)));
    },

    /**
     * Returns the due deliveries of a webhook, oldest first. A delivery waits for an older unfinished one about the same subject, unless
     * a user requested it. A redelivery of one that had ended before neither waits nor makes others wait.
     */
    due: (webhookId: number, now: Date, limit: number): Promise<DeliveryWithEvent[]> =>
      withEvent()
        .where(
          sql`${webhookDeliveries.id} in (
            with waiting as materialized (
              select order_key, min(id) as first_id from webhook_deliveries
              where webhook_id = ${webhookId} and next_attempt_at > ${now} and ended_at is null
              group by order_key
            )
            select "webhook_deliveries".id
            from webhook_deliveries
            join webhooks on webhooks.id = "webhook_deliveries".webhook_id
            left join waiting on waiting.order_key = "webhook_deliveries".order_key
            where "webhook_deliveries".webhook_id = ${webhookId} and "webhook_deliveries".next_attempt_at <= ${now}
              and ${maySend(now)}
              and ("webhook_deliveries".by_hand or "webhook_deliveries".ended_at is not null
                or coalesce("webhook_deliveries".id < waiting.first_id, true))
            order by "webhook_deliveries".id limit ${limit})`,
        )
        .orderBy(asc(webhookDeliveries.id)),

    /**
     * Reads the webhooks of deliveries again just before their attempts, because they may have changed meanwhile.
     * @returns a function that returns the current webhook; null if the delivery must not be sent, or was requested again
     */
    async stillDue(due: readonly Due[], now: Date): Promise<(one: Due) => WebhookRow | null> {
      const rows = await webhooksOfDue.execute({ ids: due.map(({ id }) => id), now });
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ({ id, dueAt }) => {
        const row = byId.get(id);
        return row?.dueAt?.getTime() === dueAt.getTime() ? row.webhook : null;
      };
    },

    /** Returns when the next delivery of a webhook is due; null = none is left, or the webhook is disabled and no user requested one. */
    async nextOf(tx: Connection, webhookId: number) {
      // Of the deliveries about one subject only the oldest counts, because the others wait for it. Each row is read once, in the order
      // of an index, because a backlog may be long.
      const dueAt = sql<Date | null>`min(case when unsent.by_hand then unsent.next_attempt_at
        else greatest(unsent.next_attempt_at, ${webhooks.paused_until}) end)`;
      const [row] = await tx
        .select({
          dueAt: dueAt.mapWith(webhookDeliveries.next_attempt_at),
          failingSince: sql`max(${webhooks.failing_since})`,
        })
        .from(webhooks)
        .innerJoin(
          sql`(
            select by_hand, next_attempt_at,
              order_key is null or ended_at is not null
                or row_number() over (partition by order_key, ended_at is null order by id) = 1 as is_oldest
            from webhook_deliveries where webhook_id = ${webhookId} and next_attempt_at is not null
          ) unsent`,
          sql`unsent.by_hand or unsent.is_oldest and ${webhooks.disabled_at} is null`,
        )
        .where(eq(webhooks.id, webhookId));
      return row?.dueAt == null ? null : { dueAt: row.dueAt, isFailing: row.failingSince !== null };
    },

    /** Returns the ids of webhooks with unfinished deliveries. */
    async webhooksWithUnsent(tx: Connection): Promise<number[]> {
      const rows = await tx
        .select({ id: webhookDeliveries.webhook_id })
        .from(webhookDeliveries)
        .where(isNotNull(webhookDeliveries.next_attempt_at))
        .groupBy(webhookDeliveries.webhook_id)
        .orderBy(webhookDeliveries.webhook_id);
      return rows.map(({ id }) => id);
    },
  };
}

/** Id of the older delivery that a delivery waits for; null from its first attempt on, which is made once all older ones have ended. */
const waitsFor = sql<
  number | null
>`case when "webhook_deliveries".status = 'pending' and not "webhook_deliveries".by_hand
  and "webhook_deliveries".ended_at is null then (
  select min(o.id) from webhook_deliveries o
  where o.webhook_id = "webhook_deliveries".webhook_id and o.order_key = "webhook_deliveries".order_key
    and o.id < "webhook_deliveries".id and o.next_attempt_at is not null and o.ended_at is null) end`;

/** The condition that a delivery may be sent to its webhook: a disabled or paused webhook gets only what a user requested. */
const maySend = (now: Date | ReturnType<typeof sql.placeholder>) =>
  sql`(${webhookDeliveries.by_hand} or ${webhooks.disabled_at} is null and coalesce(${webhooks.paused_until} <= ${now}, true))`;

/** The condition that a word is the id of the delivery, or the beginning of its message id. */
const hasId = (word: string) =>
  /^\d+$/.test(word)
    ? sql`${webhookDeliveries.id} = ${word}::numeric`
    : sql`exists (select from events where events.id = ${webhookDeliveries.event_id} and starts_with(message_id, ${word}))`;

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
