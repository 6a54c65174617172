// The rules of webhooks: which URLs they may have, what is sent by hand, how a secret is replaced.
import type { PageRequest } from "../../contract/paging.ts";
import { rotationHours } from "../../contract/webhooks/webhook.ts";
import { recordActivity } from "../activity/store.ts";
import type { Clock } from "../clock.ts";
import type { Receive } from "../events/teller.ts";
import { recordEvent } from "../events/store.ts";
import { conflict, InvalidFields } from "../http/service-error.ts";
import type { SiteRow } from "../inventory/store.ts";
import type { Sender } from "../net/send.ts";
import { sql } from "../store/drizzle.ts";
import { webhookEventTypes } from "../../contract/events.ts";
import type { DeliveryStore, DeliveryWithEvent } from "./delivery-store.ts";
import { pingEvent } from "./event-data.ts";
import type { WebhookSender } from "./sender.ts";
import { makeSecret } from "./signature.ts";
import type { WebhookRow, WebhookStore } from "./webhook-store.ts";

export type WebhookServiceOptions = {
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  /** Judges URLs. */
  network: Sender;
  sender: WebhookSender;
  clock: Clock;
};

const hostOf = (url: string) => new URL(url).host;
const told = new Set<string>(webhookEventTypes);

export function createWebhookService(options: WebhookServiceOptions) {
  const { webhooks, deliveries, network, sender, clock } = options;
  const now = () => new Date(clock.now());

  /** A change of a webhook on the timeline, by whoever asked for it. */
  const entry = (webhook: WebhookRow, serverId: number, action: string, detail?: string) => ({
    kind: "webhook" as const,
    action,
    object: { type: "webhook", id: webhook.id, name: hostOf(webhook.url) },
    server_id: serverId,
    site_id: webhook.site_id,
    detail: detail ?? null,
  });

  return {
    list: (siteId: number, page: PageRequest) => webhooks.list(siteId, page),
    withSite: (id: number) => webhooks.withSite(id),
    newestOf: (ids: readonly number[]) => deliveries.newestOf(ids),
    listDeliveries: (id: number, page: PageRequest) => deliveries.list(id, page),
    findDelivery: (id: number) => deliveries.byId(id),
    attempts: (deliveryId: number) => deliveries.attempts(deliveryId),

    /** @throws InvalidFields for an address that may not be called */
    async create(site: SiteRow, url: string): Promise<WebhookRow> {
      const refusal = await network.refusalOf(url);
      if (refusal !== null) throw new InvalidFields({ url: [refusal] });
      return webhooks.transaction(async (tx) => {
        const row = await webhooks.insert(tx, { site_id: site.id, url, secret: makeSecret() });
        await recordActivity(tx, entry(row, site.serverId, "created", url));
        return row;
      });
    },

    remove: (webhook: WebhookRow, serverId: number): Promise<void> =>
      webhooks.transaction(async (tx) => {
        if (await webhooks.remove(tx, webhook.id))
          await recordActivity(
            tx,
            entry(webhook, serverId, "deleted", `${webhook.url}, and what was sent to it`),
          );
      }),

    /** Makes a new secret; the one before it goes on to sign for a day. */
    rotate: (webhook: WebhookRow, serverId: number): Promise<WebhookRow> =>
      webhooks.transaction(async (tx) => {
        const row = await webhooks.update(tx, webhook.id, {
          secret: makeSecret(),
          // In SQL, so that of two rotations at once the second one keeps what the first one made.
          previous_secret: sql`secret` as unknown as string,
          previous_secret_until: new Date(clock.now() + rotationHours * 3600 * 1000),
        });
        if (row === null) throw conflict("The webhook is gone.");
        await recordActivity(tx, entry(row, serverId, "given a new secret"));
        return row;
      }),

    /** Sends a ping, to a disabled webhook too: an answer enables it again. */
    async ping(webhook: WebhookRow, place: { serverId: number; siteName: string }) {
      const made = await webhooks.transaction(async (tx) => {
        const event = await recordEvent(tx, pingEvent(webhook, place));
        const [delivery] = await deliveries.insert(tx, [
          { webhook_id: webhook.id, event_id: event.id, by_hand: true, next_attempt_at: now() },
        ]);
        if (delivery === undefined) throw new Error("An insert answered no row.");
        return { delivery, event };
      });
      sender.wake();
      return made;
    },

    /** Begins a delivery's attempts anew, under the same id. */
    async redeliver(
      { delivery, event }: DeliveryWithEvent,
      webhook: WebhookRow,
      serverId: number,
    ): Promise<DeliveryWithEvent> {
      if (delivery.status === "pending")
        throw conflict("It is about to be sent for the first time.");
      const changed = await webhooks.transaction(async (tx) => {
        const row = await deliveries.update(tx, delivery.id, {
          status: "pending",
          round_attempts: 0,
          by_hand: true,
          next_attempt_at: now(),
          ended_at: null,
        });
        if (row === null) throw conflict("The delivery is gone.");
        await recordActivity(
          tx,
          entry(webhook, serverId, "asked to be told again", `${event.type}, delivery ${row.id}`),
        );
        return row;
      });
      sender.wake();
      return { delivery: changed, event };
    },

    /** Makes a delivery of each event for each webhook of its sites. */
    receive: (async (tx, events) => {
      const due = events.filter(({ type }) => told.has(type) && type !== "webhook.ping");
      const siteIds = [...new Set(due.flatMap((event) => event.siteIds))];
      const enabled = await webhooks.enabledOf(tx, siteIds);
      const rows = due.flatMap((event) =>
        enabled
          .filter(({ siteId }) => event.siteIds.includes(siteId))
          .map(({ id }) => ({ webhook_id: id, event_id: event.id, next_attempt_at: now() })),
      );
      // A statement of PostgreSQL takes 65,535 values.
      for (let at = 0; at < rows.length; at += insertedAtOnce)
        await deliveries.insert(tx, rows.slice(at, at + insertedAtOnce));
    }) satisfies Receive,
  };
}

const insertedAtOnce = 5000;

export type WebhookService = ReturnType<typeof createWebhookService>;
