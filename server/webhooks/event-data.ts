// The events of webhooks themselves.
import { currentActor, theService } from "../activity/actor.ts";
import type { NewEvent } from "../events/event.ts";
import type { WebhookRow } from "./webhook-store.ts";

type Place = { serverId: number; siteName: string };

const hostOf = ({ url }: WebhookRow) => new URL(url).host;

/** Says nothing but that it arrives. */
export const pingEvent = (webhook: WebhookRow, { serverId, siteName }: Place): NewEvent => ({
  type: "webhook.ping",
  server_id: serverId,
  site_id: webhook.site_id,
  database_id: null,
  data: { webhook_id: webhook.id, site_id: webhook.site_id, site: siteName },
  news: { subject: hostOf(webhook), facts: [], moments: [], reason: null, path: pathOf(webhook) },
  activity: {
    kind: "webhook",
    action: "pinged",
    object: { type: "webhook", id: webhook.id },
    actor: currentActor(),
  },
});

export const disabledEvent = (
  webhook: WebhookRow,
  { serverId, siteName }: Place,
  reason: string,
): NewEvent => ({
  type: "webhook.disabled",
  server_id: serverId,
  site_id: webhook.site_id,
  database_id: null,
  data: { webhook_id: webhook.id, site_id: webhook.site_id, site: siteName, reason },
  news: {
    subject: `${hostOf(webhook)}, a webhook of ${siteName}`,
    facts: [
      ["What to do", "Mend the receiver, then ping the webhook: an answer enables it again."],
    ],
    moments: [],
    reason,
    path: pathOf(webhook),
  },
  activity: {
    kind: "webhook",
    action: "disabled",
    object: { type: "webhook", id: webhook.id },
    actor: theService,
  },
});

const pathOf = ({ id }: WebhookRow) => `/webhooks/${id}`;
