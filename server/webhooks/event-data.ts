// Builds the events about webhooks, and the timeline entries of their changes and of ended deliveries.
import type { EventType } from "../../contract/events.ts";
import { toTimestamp } from "../../contract/values.ts";
import { currentActor, theService, type Actor } from "../activity/actor.ts";
import type { NewActivity } from "../activity/store.ts";
import type { NewEvent } from "../events/event.ts";
import type { MadeAttempt } from "./attempt.ts";
import type { RecordedAttempt } from "./attempt-store.ts";
import type { DeliveryWithEvent } from "./delivery-store.ts";
import type { Place, WebhookRow } from "./webhook-store.ts";

const hostOf = ({ url }: WebhookRow) => new URL(url).host;

type Said = {
  type: Extract<EventType, `webhook.${string}`>;
  action: string;
  actor: Actor;
  data?: Record<string, unknown>;
  facts?: [string, string][];
  reason?: string;
};

const webhookEvent = (
  webhook: WebhookRow,
  { serverId, siteName }: Place,
  { type, action, actor, data = {}, facts = [], reason }: Said,
): NewEvent => ({
  type,
  server_id: serverId,
  site_id: webhook.site_id,
  database_id: null,
  data: { webhook_id: webhook.id, ...data, ...(reason !== undefined && { reason }) },
  notification: {
    subject: `${hostOf(webhook)} (${siteName})`,
    facts,
    moments: [],
    reason: reason ?? null,
    path: `/webhooks/${webhook.id}`,
  },
  activity: { kind: "webhook", action, object: { type: "webhook", id: webhook.id }, actor },
});

/** Builds the event of a ping, a test of the webhook. */
export function pingEvent(webhook: WebhookRow, place: Place): NewEvent {
  const actor = currentActor();
  const event = webhookEvent(webhook, place, { type: "webhook.ping", action: "pinged", actor });
  return { ...event, notification: { ...event.notification, subject: hostOf(webhook) } };
}

/** @param missed number of deliveries that ended because the webhook was disabled */
export const disabledEvent = (
  webhook: WebhookRow,
  place: Place,
  { reason, missed }: { reason: string; missed: number },
): NewEvent =>
  webhookEvent(webhook, place, {
    type: "webhook.disabled",
    action: "disabled",
    actor: theService,
    data: { host: hostOf(webhook), missed_deliveries: missed },
    facts: [
      [
        "Next step",
        "Fix the receiver, then ping the webhook. A successful ping enables the webhook, and missed deliveries can be sent.",
      ],
    ],
    reason,
  });

/**
 * @param missed number of deliveries that the webhook missed while it was disabled
 * @param actor the user who enabled it; by default the service, after a successful ping or redelivery
 */
export const enabledEvent = (
  webhook: WebhookRow,
  place: Place,
  { since, missed, actor = theService }: { since: Date; missed: number; actor?: Actor },
): NewEvent =>
  webhookEvent(webhook, place, {
    type: "webhook.enabled",
    action: "enabled again",
    actor,
    data: {
      host: hostOf(webhook),
      disabled_since: toTimestamp(since),
      missed_deliveries: missed,
    },
    facts:
      missed === 0
        ? []
        : [["Missed", `${missed === 1 ? "1 delivery" : `${missed} deliveries`}, ready to send`]],
  });

/** Builds the event of a delivery that failed after its last attempt. */
export const deliveryFailedEvent = (
  webhook: WebhookRow,
  place: Place,
  { delivery, event, attempts, reason }: DeliveryWithEvent & { attempts: number; reason: string },
): NewEvent =>
  webhookEvent(webhook, place, {
    type: "webhook.delivery_failed",
    action: "gave up a delivery",
    actor: theService,
    data: {
      host: hostOf(webhook),
      delivery_id: delivery.id,
      event: event.type,
      attempts,
    },
    facts: [
      ["Delivery", `${delivery.id}, ${event.type}`],
      ["Attempts", String(attempts)],
      ["Next step", "Fix the receiver, then redeliver."],
    ],
    reason,
  });

/** Builds the timeline entry of a change of a webhook, by the current actor. */
export const webhookEntry = (
  webhook: WebhookRow,
  serverId: number,
  action: string,
  detail?: string,
): NewActivity => ({
  kind: "webhook",
  action,
  object: { type: "webhook", id: webhook.id, name: hostOf(webhook) },
  server_id: serverId,
  site_id: webhook.site_id,
  detail: detail ?? null,
});

/**
 * Builds the timeline entry of a delivery's end; null = the delivery has not ended.
 * @param serverId server of the webhook's site; the event may be about a database on another server
 */
export function deliveryEntry(
  { webhook, delivery, event, attempt }: MadeAttempt,
  serverId: number,
  status: RecordedAttempt["status"] | undefined,
): NewActivity | null {
  if (status !== "delivered" && status !== "failed") return null;
  return {
    kind: "webhook",
    action: status === "delivered" ? "delivered" : "delivery failed",
    outcome: status === "delivered" ? "good" : "bad",
    object: { type: "webhook", id: webhook.id, name: hostOf(webhook) },
    server_id: serverId,
    site_id: webhook.site_id,
    detail: `${event.type}, delivery ${delivery.id}${attempt.reason === null ? "" : `: ${attempt.reason}`}`,
    actor: theService,
  };
}
