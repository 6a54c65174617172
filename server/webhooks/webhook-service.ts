// The rules of webhooks: which URLs they may have, what is sent by hand, how a secret is replaced.
import type { PageRequest } from "../../contract/paging.ts";
import { rotationHours } from "../../contract/webhooks/webhook.ts";
import { recordActivity } from "../activity/store.ts";
import type { Clock } from "../clock.ts";
import { roomOf } from "../events/event.ts";
import type { Receive, DispatchedEvent } from "../events/outbox-relay.ts";
import { recordEvent } from "../events/store.ts";
import { conflict, InvalidFields } from "../http/service-error.ts";
import type { NextJob, SingletonQueue } from "../jobs/singleton-queue.ts";
import type { SiteRow } from "../inventory/store.ts";
import type { Sender } from "../net/send.ts";
import type { ListRequest } from "../store/filtered-rows.ts";
import { insertedRow } from "../store/rows.ts";
import { sql } from "../store/drizzle.ts";
import type { DeliveryStore, DeliveryWithEvent } from "./delivery-store.ts";
import { pingEvent } from "./event-data.ts";
import { missedOf, sendMissed, sentAnew } from "./missed-store.ts";
import type { Beside } from "./serializer.ts";
import { makeSecret } from "./signature.ts";
import type { WebhookRow, WebhookStore } from "./webhook-store.ts";

type WebhookServiceOptions = {
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  /** Judges URLs. */
  network: Sender;
  queue: Pick<SingletonQueue, "ensure" | "abort">;
  clock: Clock;
};

const hostOf = (url: string) => new URL(url).host;

export function createWebhookService(options: WebhookServiceOptions) {
  const { webhooks, deliveries, network, queue, clock } = options;
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
    list: (siteId: number, page: ListRequest) => webhooks.list(siteId, page),
    withSite: (id: number) => webhooks.withSite(id),
    /** Reads what is told of webhooks beside their rows. */
    async besideOf(rows: readonly WebhookRow[]): Promise<(row: WebhookRow) => Beside> {
      const ids = rows.map(({ id }) => id);
      const [newest, missed] = await Promise.all([
        deliveries.newestOf(ids),
        webhooks.transaction((tx) => missedOf(tx, ids)),
      ]);
      return ({ id }) => ({
        newest: newest.find(({ delivery }) => delivery.webhook_id === id) ?? null,
        missed: missed.get(id) ?? 0,
        now: now(),
      });
    },

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

    /** Deletes it; from then on it gets no further request. */
    async remove(webhook: WebhookRow, serverId: number): Promise<void> {
      await webhooks.transaction(async (tx) => {
        if (await webhooks.remove(tx, webhook.id))
          await recordActivity(
            tx,
            entry(webhook, serverId, "deleted", `${webhook.url} and its delivery history`),
          );
      });
      queue.abort(webhook.id, new Error("The webhook was deleted."));
    },

    /** Makes a new secret; the one before it goes on to sign for a day. */
    rotate: (webhook: WebhookRow, serverId: number): Promise<WebhookRow> =>
      webhooks.transaction(async (tx) => {
        const row = await webhooks.update(tx, webhook.id, {
          secret: makeSecret(),
          // In SQL, so that of two rotations at once the second one keeps what the first one made.
          previous_secret: sql`secret` as unknown as string,
          previous_secret_until: new Date(clock.now() + rotationHours * 3600 * 1000),
        });
        if (row === null) throw conflict("The webhook no longer exists.");
        await recordActivity(tx, entry(row, serverId, "given a new secret"));
        return row;
      }),

    /** Sends a ping, to a disabled webhook too: an answer enables it again. */
    async ping(webhook: WebhookRow, place: { serverId: number; siteName: string }) {
      return webhooks.transaction(async (tx) => {
        const [held] = await webhooks.hold(tx, [webhook.id]);
        if (held === undefined) throw conflict("The webhook no longer exists.");
        await queue.ensure(tx, [sendNow(webhook)]);
        const event = await recordEvent(tx, pingEvent(webhook, place));
        const delivery = insertedRow(
          await deliveries.insert(tx, [
            { webhook_id: webhook.id, event_id: event.id, by_hand: true, next_attempt_at: now() },
          ]),
        );
        return { delivery, event };
      });
    },

    /** Begins a delivery's attempts anew, under the same id. */
    async redeliver(
      { delivery, event }: DeliveryWithEvent,
      webhook: WebhookRow,
      serverId: number,
    ): Promise<DeliveryWithEvent> {
      if (delivery.status === "pending")
        throw conflict("The delivery is pending. Redeliver it after its first attempt.");
      const changed = await webhooks.transaction(async (tx) => {
        await queue.ensure(tx, [sendNow(webhook)]);
        const row = await deliveries.update(tx, delivery.id, {
          ...sentAnew,
          by_hand: true,
          next_attempt_at: now(),
        });
        if (row === null) throw conflict("The delivery no longer exists.");
        await recordActivity(
          tx,
          entry(webhook, serverId, "asked to be told again", `${event.type}, delivery ${row.id}`),
        );
        return row;
      });
      return { delivery: changed, event };
    },

    /**
     * Sends whatever a webhook missed while it was disabled, in its order.
     * @returns how much that is
     * @throws ServiceError while it is disabled: it would miss all of it once more
     */
    async sendMissed(webhook: WebhookRow, serverId: number): Promise<number> {
      return webhooks.transaction(async (tx) => {
        const [row] = await webhooks.lock(tx, [webhook.id]);
        if (row === undefined) throw conflict("The webhook no longer exists.");
        if (row.disabled_at !== null)
          throw conflict(
            "The webhook is disabled. Ping the webhook: a successful ping enables it.",
          );
        await queue.ensure(tx, [sendNow(row)]);
        const sent = await sendMissed(tx, webhook.id, now());
        if (sent > 0)
          await recordActivity(
            tx,
            entry(webhook, serverId, "asked to be told what it missed", `${sent} deliveries`),
          );
        return sent;
      });
    },

    /** Gives whatever is to be sent a job, should it have none. */
    catchUp: (): Promise<void> =>
      webhooks.transaction(async (tx) => {
        const ids = await deliveries.webhooksWithUnsent(tx);
        await queue.ensure(
          tx,
          ids.map((key) => ({ key, delayMs: 0 })),
        );
      }),

    /** Makes a delivery of each event for each webhook of its sites; for a disabled one, to be sent later. */
    receive: (async (tx, events) => {
      const due = events.filter(({ type }) => type !== "webhook.ping");
      const siteIds = [...new Set(due.flatMap((event) => event.siteIds))];
      const receivers = await webhooks.ofSites(tx, siteIds);
      await queue.ensure(
        tx,
        receivers.filter(({ disabled_at }) => disabled_at === null).map(sendNow),
      );
      const rows = due.flatMap((event) =>
        receivers
          .filter(({ id, site_id }) => event.siteIds.includes(site_id) && !isAbout(event, id))
          .map(({ id, disabled_at }) => ({
            webhook_id: id,
            event_id: event.id,
            order_key: event.order_key,
            ...(disabled_at === null
              ? { next_attempt_at: now() }
              : {
                  status: "failed" as const,
                  status_reason: "Not sent: the webhook was disabled.",
                  is_missed: true,
                  ended_at: now(),
                }),
          })),
      );
      // A statement of PostgreSQL takes 65,535 values.
      for (let at = 0; at < rows.length; at += insertedAtOnce)
        await deliveries.insert(tx, rows.slice(at, at + insertedAtOnce));
    }) satisfies Receive,
  };
}

/** A webhook is not told about itself: it could not take that. */
const isAbout = ({ type, data }: DispatchedEvent, webhookId: number): boolean =>
  roomOf(type) === "webhook" && data["webhook_id"] === webhookId;

const sendNow = ({ id, failing_since }: Pick<WebhookRow, "id" | "failing_since">): NextJob => ({
  key: id,
  delayMs: 0,
  isSlow: failing_since !== null,
});

const insertedAtOnce = 5000;

export type WebhookService = ReturnType<typeof createWebhookService>;
