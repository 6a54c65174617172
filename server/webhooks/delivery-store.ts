// The deliveries' rows. What is due is claimed for a while: a service that dies in the middle loses nothing, another
// claim follows when that while is over, and the receiver knows the message by its id.
import type { PageRequest } from "../../contract/paging.ts";
import type { Connection, Database } from "../store/database.ts";
import { and, asc, desc, eq, inArray, sql } from "../store/drizzle.ts";
import { storableJson } from "../store/storable.ts";
import { events, webhookAttempts, webhookDeliveries, webhooks } from "../store/tables.ts";
import type { EventRow } from "../events/event.ts";
import type { WebhookRow } from "./webhook-store.ts";

export type DeliveryRow = typeof webhookDeliveries.$inferSelect;
export type NewDeliveryRow = typeof webhookDeliveries.$inferInsert;
export type AttemptRow = typeof webhookAttempts.$inferSelect;
export type DeliveryWithEvent = {
  delivery: DeliveryRow;
  event: EventRow;
  /** An older delivery about the same thing that is not over. */
  waitsFor?: number | null;
};

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
export type RecordedAttempt = {
  id: number;
  /** Until when it was claimed for this attempt; a row that says otherwise was asked for anew meanwhile. */
  claimed_until: Date;
  status: DeliveryRow["status"];
  status_reason: string | null;
  code: number | null;
  duration_ms: number;
  round_attempts: number;
  by_hand: boolean;
  is_missed: boolean;
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
      .select({ delivery: webhookDeliveries, event: events, waitsFor })
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

    /**
     * Takes what is due, in the order of its making for each webhook. What is about the same thing as an older delivery that
     * is not over waits for that one, unless somebody asked for it.
     */
    async claim({ now, until, busy, mostWebhooks, mostEach, withFailing }: Claim) {
      // Those of one webhook may be thousands; the first lot by time names the webhooks, and each gives its oldest.
      const mayGo = sql`(d.by_hand or d.order_key is null or not exists (
        select from webhook_deliveries o where o.webhook_id = d.webhook_id and o.order_key = d.order_key
          and o.id < d.id and o.next_attempt_at > ${now}))`;
      const { rows } = await db.execute<{ id: number }>(sql`
        with due as materialized (
          select d.webhook_id, d.next_attempt_at
          from webhook_deliveries d join webhooks w on w.id = d.webhook_id
          where d.next_attempt_at <= ${now}
            and not d.webhook_id = any(${sql.param([...busy])}::int[])
            and (d.by_hand or w.disabled_at is null and coalesce(w.paused_until <= ${now}, true))
            and (${withFailing} or w.failing_since is null) and ${mayGo}
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
              and ${mayGo}
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

    /**
     * Looks again right before an attempt: much may have happened since the claim.
     * @returns the webhook as it is now; null when the delivery is not to be sent, or no longer by this claim
     */
    async claimedStill(id: number, until: Date, now: Date): Promise<WebhookRow | null> {
      const [row] = await db
        .select({ webhook: webhooks })
        .from(webhookDeliveries)
        .innerJoin(webhooks, eq(webhooks.id, webhookDeliveries.webhook_id))
        .where(
          and(
            eq(webhookDeliveries.id, id),
            eq(webhookDeliveries.next_attempt_at, until),
            sql`(${webhookDeliveries.by_hand} or ${webhooks.disabled_at} is null and coalesce(${webhooks.paused_until} <= ${now}, true))`,
          ),
        );
      return row?.webhook ?? null;
    },

    /** Gives back what was claimed until then and not tried. */
    async release(ids: readonly number[], until: Date, now: Date): Promise<void> {
      if (ids.length === 0) return;
      await db
        .update(webhookDeliveries)
        .set({ next_attempt_at: now })
        .where(
          and(
            inArray(webhookDeliveries.id, [...ids]),
            eq(webhookDeliveries.next_attempt_at, until),
          ),
        );
    },

    /** Writes attempts down. What was deleted meanwhile stays deleted. */
    async recordAttempts(tx: Connection, attempts: readonly RecordedAttempt[]): Promise<void> {
      const rows = storableJson(attempts);
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
      // Somebody asked for it while the attempt was made: it is sent once more, whatever came of this one.
      await tx.execute(sql`
        update webhook_deliveries d set
          attempts = d.attempts + 1, code = x.code, duration_ms = x.duration_ms
        from json_to_recordset(${rows}::json) as x(
          id int, claimed_until timestamptz, code int, duration_ms int)
        where d.id = x.id and ${askedAnew}`);
      await tx.execute(sql`
        update webhook_deliveries d set
          status = x.status, status_reason = x.status_reason, code = x.code,
          duration_ms = x.duration_ms, attempts = d.attempts + 1, round_attempts = x.round_attempts,
          by_hand = x.by_hand, is_missed = x.is_missed, next_attempt_at = x.next_attempt_at,
          ended_at = x.ended_at
        from json_to_recordset(${rows}::json) as x(
          id int, claimed_until timestamptz, status text, status_reason text, code int, duration_ms int,
          round_attempts int, by_hand boolean, is_missed boolean, next_attempt_at timestamptz,
          ended_at timestamptz)
        where d.id = x.id and not ${askedAnew}`);
    },
  };
}

/** Only the first attempt waits: one that was made already was due before what came after it. */
const waitsFor = sql<
  number | null
>`case when "webhook_deliveries".status = 'pending' and not "webhook_deliveries".by_hand then (
  select min(o.id) from webhook_deliveries o
  where o.webhook_id = "webhook_deliveries".webhook_id and o.order_key = "webhook_deliveries".order_key
    and o.id < "webhook_deliveries".id and o.next_attempt_at is not null) end`;

const askedAnew = sql.raw(
  `(d.by_hand and d.status = 'pending' and d.next_attempt_at is distinct from x.claimed_until)`,
);

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
