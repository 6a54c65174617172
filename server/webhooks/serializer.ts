// Builds the responses for webhooks and deliveries. A secret is only returned when it was just created.
import { toTimestamp, toTimestampOrNull } from "../../contract/values.ts";
import type { Delivery, DeliverySummary } from "../../contract/webhooks/delivery.ts";
import type { Webhook, WebhookWithSecret } from "../../contract/webhooks/webhook.ts";
import { bodyOf } from "../events/event.ts";
import type { AttemptRow, DeliveryWithEvent } from "./delivery-store.ts";
import type { WebhookRow } from "./webhook-store.ts";

export const toSummary = ({
  delivery,
  event,
  waitsFor = null,
}: DeliveryWithEvent): DeliverySummary => ({
  id: delivery.id,
  webhook_id: delivery.webhook_id,
  event: event.type,
  status: delivery.status,
  status_reason: delivery.status_reason,
  code: delivery.code,
  duration_ms: delivery.duration_ms,
  attempts: delivery.attempts,
  next_attempt_at: toTimestampOrNull(delivery.next_attempt_at),
  waits_for: waitsFor,
  created_at: toTimestamp(delivery.created_at),
  ended_at: delivery.next_attempt_at === null ? toTimestampOrNull(delivery.ended_at) : null,
});

export const toDelivery = (
  found: DeliveryWithEvent,
  { url }: WebhookRow,
  attempts: AttemptRow[],
): Delivery => ({
  ...toSummary(found),
  message_id: found.event.message_id,
  url,
  body: bodyOf(found.event),
  attempt_list: attempts.map((row, index) => ({
    number: attempts.length - index,
    url: row.url,
    started_at: toTimestamp(row.started_at),
    duration_ms: row.duration_ms,
    code: row.code,
    error: row.error,
    request_headers: row.request_headers,
    response_headers: row.response_headers,
    response_body: row.response_body,
  })),
});

/** Data that the response of a webhook contains in addition to its row. */
export type Beside = { newest: DeliveryWithEvent | null; missed: number; now: Date };

export const toWebhook = (row: WebhookRow, { newest, missed, now }: Beside): Webhook => ({
  id: row.id,
  url: row.url,
  created_at: toTimestamp(row.created_at),
  site_id: row.site_id,
  description: row.description,
  events: row.events,
  status: row.paused_at !== null ? "paused" : row.disabled_at !== null ? "disabled" : "enabled",
  // A pause was requested by a user, so it has no reason.
  status_reason: row.paused_at === null ? row.disabled_reason : null,
  disabled_since: row.paused_at === null ? toTimestampOrNull(row.disabled_at) : null,
  paused_since: toTimestampOrNull(row.paused_at),
  failing_since: toTimestampOrNull(row.failing_since),
  paused_until:
    row.paused_until !== null && row.paused_until > now
      ? toTimestampOrNull(row.paused_until)
      : null,
  missed_deliveries: missed,
  previous_secret_until: toTimestampOrNull(row.previous_secret_until),
  last_delivery: newest && toSummary(newest),
});

export const toWebhookWithSecret = (row: WebhookRow, beside: Beside): WebhookWithSecret => ({
  ...toWebhook(row, beside),
  secret: row.secret,
});
