import { boolean, check, index, integer, pgTable, sql, text } from "../drizzle.ts";
import type { PgColumn, SQL } from "../drizzle.ts";
import type { SubscribableEvent } from "../../../contract/events.ts";
import type { DeliveryState } from "../../../contract/webhooks/delivery.ts";
import { createdAt, jsonb, moment } from "./columns.ts";
import { events } from "./events.ts";
import { sites } from "./inventory.ts";

/** Matches webhooks that are failing or were disabled by the service, and that no user has paused. */
export const isUnreached = (
  table: Record<"paused_at" | "disabled_at" | "failing_since", PgColumn>,
): SQL =>
  sql`(${table.paused_at} is null and (${table.disabled_at} is not null or ${table.failing_since} is not null))`;

export const webhooks = pgTable(
  "webhooks",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    site_id: integer()
      .notNull()
      .references(() => sites.id),
    url: text().notNull(),
    secret: text().notNull(),
    /** The secret before the last rotation, which also signs until its time is over. */
    previous_secret: text(),
    previous_secret_until: moment("previous_secret_until"),
    description: text().notNull().default(""),
    /** Selected events; null = all. */
    events: text().array().$type<SubscribableEvent[]>(),
    /** Since when nothing is delivered automatically: the service disabled it, or a user paused it. */
    disabled_at: moment("disabled_at"),
    /** Why the service disabled it; null = the service did not. */
    disabled_reason: text(),
    /** Since when a user has paused it; only a user ends that. */
    paused_at: moment("paused_at"),
    /** Since when every attempt has failed. */
    failing_since: moment("failing_since"),
    /** When the newest of those attempts was made. */
    last_failed_at: moment("last_failed_at"),
    /**
     * How long it has been failing: the sum of the waits between attempts, each counted as the schedule's longest wait at most.
     */
    failing_seconds: integer().notNull().default(0),
    /** Whether a delivery was given up since the last successful one, and the site's receivers were notified. */
    notified_exhausted: boolean().notNull().default(false),
    /** Until when the receiver asked for a pause. */
    paused_until: moment("paused_until"),
    created_at: createdAt,
  },
  (table) => [
    index("webhooks_of_site").on(table.site_id, table.id),
    // The few webhooks that the overview lists.
    index("webhooks_unreached").on(table.id).where(isUnreached(table)),
  ],
);

/** An event for one webhook. `next_attempt_at` says when it is due. */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    webhook_id: integer()
      .notNull()
      .references(() => webhooks.id, { onDelete: "cascade" }),
    event_id: integer()
      .notNull()
      .references(() => events.id),
    /** Key of its event: a delivery waits for earlier ones with the same key. */
    order_key: text(),
    status: text().$type<DeliveryState>().notNull().default("pending"),
    status_reason: text(),
    code: integer(),
    duration_ms: integer(),
    attempts: integer().notNull().default(0),
    /** Attempts since the delivery was last started, by an event or by a user; determines the next wait. */
    round_attempts: integer().notNull().default(0),
    /** Whether a user requested it, so that it is sent to a disabled webhook too. */
    by_hand: boolean().notNull().default(false),
    /** Whether it was not sent, or not again, because its webhook was disabled or paused; it can be sent later. */
    is_missed: boolean().notNull().default(false),
    /** Null once the delivery has ended. Unchanged during an attempt. */
    next_attempt_at: moment("next_attempt_at"),
    /** Kept when a user requests the delivery again: as it has ended once, it holds up no others. */
    ended_at: moment("ended_at"),
    created_at: createdAt,
  },
  (table) => [
    index("webhook_deliveries_of_webhook").on(table.webhook_id, table.id),
    index("webhook_deliveries_of_event").on(table.event_id),
    // Unfinished deliveries of a webhook, in the order in which they are sent.
    index("webhook_deliveries_unsent")
      .on(table.webhook_id, table.id)
      .where(sql`${table.next_attempt_at} is not null`),
    index("webhook_deliveries_missed")
      .on(table.webhook_id, table.id)
      .where(sql`${table.is_missed}`),
    // Unfinished deliveries of a webhook with the same key, which have to keep their order.
    index("webhook_deliveries_in_order")
      .on(table.webhook_id, table.order_key, table.id)
      .where(sql`${table.next_attempt_at} is not null`),
    check(
      "webhook_deliveries_status",
      sql`${table.status} in ('pending', 'retrying', 'delivered', 'failed')`,
    ),
  ],
);

export const webhookAttempts = pgTable(
  "webhook_attempts",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    delivery_id: integer()
      .notNull()
      .references(() => webhookDeliveries.id, { onDelete: "cascade" }),
    /** URL of the request; null in rows from before this column. */
    url: text(),
    started_at: moment("started_at").notNull(),
    duration_ms: integer().notNull(),
    code: integer(),
    error: text(),
    request_headers: jsonb().$type<Record<string, string>>().notNull(),
    response_headers: jsonb().$type<Record<string, string>>(),
    response_body: text(),
  },
  (table) => [index("webhook_attempts_of_delivery").on(table.delivery_id, table.id)],
);
