// Queries of the deliveries that webhooks missed while disabled or paused: stored as failed until a user requests them.
import { maxRedelivered } from "../../contract/webhooks/webhook.ts";
import type { Connection } from "../store/database.ts";
import { and, asc, eq, gte, inArray, isNotNull, sql } from "../store/drizzle.ts";
import { webhookDeliveries } from "../store/tables.ts";
import type { NewDeliveryRow } from "./delivery-store.ts";

/** What is the same however a delivery came to be sent once more. */
export const sentAnew = {
  status: "pending",
  status_reason: null,
  round_attempts: 0,
  is_missed: false,
} as const satisfies Partial<NewDeliveryRow>;

const isMissed = sql`${webhookDeliveries.is_missed}`;

/** Ends what is still to be sent to a webhook by itself. @returns how much that was */
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
      // A ping asks whether it arrives now, and has no order; later it says nothing.
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

/** How many deliveries each of these webhooks missed; those that missed none are not in it. */
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

/** Begins anew whatever a webhook missed, in its order. @returns how much that is */
export async function sendMissed(tx: Connection, webhookId: number, now: Date): Promise<number> {
  const sent = await tx
    .update(webhookDeliveries)
    .set({ ...sentAnew, ended_at: null, next_attempt_at: now })
    .where(and(eq(webhookDeliveries.webhook_id, webhookId), isMissed))
    .returning({ id: webhookDeliveries.id });
  return sent.length;
}

/** Begins anew what failed since a moment, oldest first and so many at once. A ping would say nothing any more. */
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
    .set({ ...sentAnew, ended_at: null, next_attempt_at: now })
    .where(inArray(webhookDeliveries.id, oldest))
    .returning({ id: webhookDeliveries.id });
  const [left] = await tx
    .select({ many: sql<number>`count(*)::int` })
    .from(webhookDeliveries)
    .where(isFailed);
  return { count: sent.length, remaining: left?.many ?? 0 };
}
