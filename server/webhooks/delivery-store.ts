// The deliveries' rows. What is due is claimed for a while: a service that dies in the middle loses nothing, another
// claim follows when that while is over, and the receiver knows the message by its id.
import type { PageRequest } from "../../contract/paging.ts";
import type { Connection, Database } from "../store/database.ts";
import { and, asc, desc, eq, inArray, isNotNull, sql } from "../store/drizzle.ts";
import { events, webhookAttempts, webhookDeliveries } from "../store/tables.ts";
import type { EventRow } from "../events/event.ts";

export type DeliveryRow = typeof webhookDeliveries.$inferSelect;
export type NewDeliveryRow = typeof webhookDeliveries.$inferInsert;
export type AttemptRow = typeof webhookAttempts.$inferSelect;
export type DeliveryWithEvent = { delivery: DeliveryRow; event: EventRow };

export type Claim = {
  now: Date;
  /** Until when nobody else may take them. */
  until: Date;
  /** Webhooks that somebody is at already. */
  busy: readonly number[];
  mostWebhooks: number;
  /** Deliveries of one webhook that works; one that fails gets one at a time. */
  mostEach: number;
  /** Whether webhooks whose last attempt failed are taken too. */
  withFailing: boolean;
};

/** One attempt, as it is written down: the attempt itself, and what it makes of its delivery. */
export type Settled = {
  id: number;
  status: DeliveryRow["status"];
  status_reason: string | null;
  code: number | null;
  duration_ms: number;
  round_attempts: number;
  by_hand: boolean;
  next_attempt_at: Date | null;
  ended_at: Date | null;
  started_at: Date;
  error: string | null;
  request_headers: Record<string, string>;
  response_headers: Record<string, string> | null;
  response_body: string | null;
};

export function createDeliveryStore(db: Database) {
  const withEvent = () =>
    db
      .select({ delivery: webhookDeliveries, event: events })
      .from(webhookDeliveries)
      .innerJoin(events, eq(events.id, webhookDeliveries.event_id));

  return {
    async list(webhookId: number, { page, perPage }: PageRequest) {
      const [rows, total] = await Promise.all([
        withEvent()
          .where(eq(webhookDeliveries.webhook_id, webhookId))
          .orderBy(desc(webhookDeliveries.id))
          .limit(perPage)
          .offset((page - 1) * perPage),
        db.$count(webhookDeliveries, eq(webhookDeliveries.webhook_id, webhookId)),
      ]);
      return { rows, total };
    },

    async byId(id: number): Promise<DeliveryWithEvent | null> {
      const [row] = await withEvent().where(eq(webhookDeliveries.id, id));
      return row ?? null;
    },

    /** The newest delivery of each webhook. */
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

    /** Newest first. */
    attempts: (deliveryId: number): Promise<AttemptRow[]> =>
      db
        .select()
        .from(webhookAttempts)
        .where(eq(webhookAttempts.delivery_id, deliveryId))
        .orderBy(desc(webhookAttempts.id)),

    insert: (tx: Connection, rows: NewDeliveryRow[]): Promise<DeliveryRow[]> =>
      tx.insert(webhookDeliveries).values(rows).returning(),

    async update(tx: Connection, id: number, change: Partial<NewDeliveryRow>) {
      const [row] = await tx
        .update(webhookDeliveries)
        .set(change)
        .where(eq(webhookDeliveries.id, id))
        .returning();
      return row ?? null;
    },

    /** Takes what is due, in the order of its making for each webhook. */
    async claim({ now, until, busy, mostWebhooks, mostEach, withFailing }: Claim) {
      // Those of one webhook may be thousands; the first lot by time names the webhooks, and each gives its oldest.
      const { rows } = await db.execute<{ id: number }>(sql`
        with due as materialized (
          select d.webhook_id, d.next_attempt_at
          from webhook_deliveries d join webhooks w on w.id = d.webhook_id
          where d.next_attempt_at <= ${now}
            and not d.webhook_id = any(${sql.param([...busy])}::int[])
            and (d.by_hand or w.disabled_at is null and coalesce(w.paused_until <= ${now}, true))
            and (${withFailing} or w.failing_since is null)
          order by d.next_attempt_at limit 1000
        ), chosen as (
          select w.id, w.disabled_at, w.paused_until,
            case when w.failing_since is null then ${mostEach}::int else 1 end as most
          from (select webhook_id, min(next_attempt_at) as first from due group by webhook_id) d
          join webhooks w on w.id = d.webhook_id
          order by d.first limit ${mostWebhooks}
        ), taken as (
          select d.id from chosen c, lateral (
            select d.id from webhook_deliveries d
            where d.webhook_id = c.id and d.next_attempt_at <= ${now}
              and (d.by_hand or c.disabled_at is null and coalesce(c.paused_until <= ${now}, true))
            order by d.id limit c.most
          ) d
        )
        update webhook_deliveries d set next_attempt_at = ${until}
        from taken where d.id = taken.id and d.next_attempt_at <= ${now}
        returning d.id`);
      const ids = rows.map(({ id }) => id);
      if (ids.length === 0) return [];
      return withEvent()
        .where(inArray(webhookDeliveries.id, ids))
        .orderBy(asc(webhookDeliveries.id));
    },

    /** Gives back what was claimed and not tried. */
    async release(ids: readonly number[], now: Date): Promise<void> {
      if (ids.length === 0) return;
      await db
        .update(webhookDeliveries)
        .set({ next_attempt_at: now })
        .where(
          and(
            inArray(webhookDeliveries.id, [...ids]),
            isNotNull(webhookDeliveries.next_attempt_at),
          ),
        );
    },

    /** Writes attempts down. What was deleted meanwhile stays deleted. */
    async settle(tx: Connection, settled: readonly Settled[]): Promise<void> {
      const rows = JSON.stringify(settled);
      await tx.execute(sql`
        with attempt as (
          select * from json_to_recordset(${rows}::json) as x(
            id int, started_at timestamptz, duration_ms int, code int, error text,
            request_headers jsonb, response_headers jsonb, response_body text)
        ), present as (
          select d.id from webhook_deliveries d join attempt a on a.id = d.id for key share of d
        )
        insert into webhook_attempts
          (delivery_id, started_at, duration_ms, code, error, request_headers, response_headers, response_body)
        select id, started_at, duration_ms, code, error, request_headers, response_headers, response_body
        from attempt join present using (id)`);
      await tx.execute(sql`
        update webhook_deliveries d set
          status = x.status, status_reason = x.status_reason, code = x.code,
          duration_ms = x.duration_ms, attempts = d.attempts + 1, round_attempts = x.round_attempts,
          by_hand = x.by_hand, next_attempt_at = x.next_attempt_at, ended_at = x.ended_at
        from json_to_recordset(${rows}::json) as x(
          id int, status text, status_reason text, code int, duration_ms int, round_attempts int,
          by_hand boolean, next_attempt_at timestamptz, ended_at timestamptz)
        where d.id = x.id`);
    },

    /** Ends what is still to be sent to a webhook by itself. @returns how much that was */
    async giveUp(tx: Connection, webhookId: number, reason: string, now: Date): Promise<number> {
      const given = await tx
        .update(webhookDeliveries)
        .set({ status: "failed", status_reason: reason, next_attempt_at: null, ended_at: now })
        .where(
          and(
            eq(webhookDeliveries.webhook_id, webhookId),
            isNotNull(webhookDeliveries.next_attempt_at),
            eq(webhookDeliveries.by_hand, false),
          ),
        )
        .returning({ id: webhookDeliveries.id });
      return given.length;
    },
  };
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
