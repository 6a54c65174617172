// Queries of the deliveries that webhooks missed while disabled or paused: stored as failed until a user requests them.
import { maxRedelivered } from "../../contract/webhooks/webhook.ts";
import type { Connection } from "../store/database.ts";
import { and, asc, eq, gte, inArray, isNotNull, sql } from "../store/drizzle.ts";
import { webhookDeliveries } from "../store/tables/webhooks.ts";
import type { NewDeliveryRow } from "./delivery-store.ts";

/** Columns of any delivery that is sent again. */
export const sentAnew = {
  status: "pending",
  status_reason: null,
  round_attempts: 0,
  is_missed: false,
} as const satisfies Partial<NewDeliveryRow>;

const isMissed = sql`${webhookDeliveries.is_missed}`;

/** Ends the unfinished deliveries of a webhook that no user requested. @returns their number */
export async function giveUp(
  tx: Connection,
  webhookId: number,
  reason: string,
  now: Date,
): Promise<number> {
  const given = await tx
    .update(webhookDeliveries)
    .set({
      status: "failed",
      status_reason: reason,
      // A ping, which has no order key, tests the webhook now and is useless later.
      is_missed: sql`${webhookDeliveries.order_key} is not null`,
      next_attempt_at: null,
      ended_at: now,
    })
    .where(
      and(
        eq(webhookDeliveries.webhook_id, webhookId),
        isNotNull(webhookDeliveries.next_attempt_at),
        eq(webhookDeliveries.by_hand, false),
      ),
    )
    .returning({ id: webhookDeliveries.id });
  return given.length;
}

/** Returns the number of missed deliveries by webhook; webhooks without any are left out. */
export async function missedOf(
  tx: Connection,
  webhookIds: readonly number[],
): Promise<Map<number, number>> {
  if (webhookIds.length === 0) return new Map();
  const rows = await tx
    .select({ id: webhookDeliveries.webhook_id, many: sql<number>`count(*)::int` })
    .from(webhookDeliveries)
    .where(and(inArray(webhookDeliveries.webhook_id, [...webhookIds]), isMissed))
    .groupBy(webhookDeliveries.webhook_id);
  return new Map(rows.map(({ id, many }) => [id, many]));
}

/** Makes all missed deliveries of a webhook due again; they keep their order. @returns their number */
export async function sendMissed(tx: Connection, webhookId: number, now: Date): Promise<number> {
  const sent = await tx
    .update(webhookDeliveries)
    .set({ ...sentAnew, ended_at: null, next_attempt_at: now })
    .where(and(eq(webhookDeliveries.webhook_id, webhookId), isMissed))
    .returning({ id: webhookDeliveries.id });
  return sent.length;
}

/**
 * Makes deliveries due again that failed since a time, except pings: the oldest, up to `maxRedelivered`. Missed ones keep their order;
 * the others had ended, so later events do not wait for them.
 */
export async function sendFailed(
  tx: Connection,
  webhookId: number,
  since: Date,
  now: Date,
): Promise<{ count: number; remaining: number }> {
  const isFailed = and(
    eq(webhookDeliveries.webhook_id, webhookId),
    eq(webhookDeliveries.status, "failed"),
    isNotNull(webhookDeliveries.order_key),
    gte(webhookDeliveries.ended_at, since),
  );
  const oldest = tx
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(isFailed)
    .orderBy(asc(webhookDeliveries.id))
    .limit(maxRedelivered);
  const sent = await tx
    .update(webhookDeliveries)
    .set({
      ...sentAnew,
      ended_at: sql`case when not ${isMissed} then ${webhookDeliveries.ended_at} end`,
      next_attempt_at: now,
    })
    .where(inArray(webhookDeliveries.id, oldest))
    .returning({ id: webhookDeliveries.id });
  const [left] = await tx
    .select({ many: sql<number>`count(*)::int` })
    .from(webhookDeliveries)
    .where(isFailed);
  return { count: sent.length, remaining: left?.many ?? 0 };
}
