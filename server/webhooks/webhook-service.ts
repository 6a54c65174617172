// The rules of webhooks: allowed URLs, redelivery, rotation of secrets.
import type { FieldErrors } from "../../contract/errors.ts";
import { type Redelivered, rotationHours } from "../../contract/webhooks/webhook.ts";
import type { CreateWebhookBody, RedeliverBody } from "../../contract/webhooks/bodies.ts";
import { recordActivity } from "../activity/store.ts";
import type { Clock } from "../clock.ts";
import { roomOf } from "../events/event.ts";
import type { Receive, DispatchedEvent } from "../events/outbox-relay.ts";
import { recordEvent } from "../events/store.ts";
import { conflict } from "../http/service-error.ts";
import type { SingletonQueue } from "../jobs/singleton-queue.ts";
import type { SiteRow } from "../inventory/store.ts";
import type { Sender } from "../net/send.ts";
import type { ListRequest } from "../store/filtered-rows.ts";
import { sql } from "../store/drizzle.ts";
import { chosenEvents, createChangeWebhook } from "./change-webhook.ts";
import type { DeliveryStore, DeliveryWithEvent } from "./delivery-store.ts";
import { pingEvent, webhookEntry } from "./event-data.ts";
import { longestGapMs, longestWaitMs } from "./judge-attempts.ts";
import { missedOf, sendFailed, sendMissed, sentAnew } from "./missed-store.ts";
import type { Beside } from "./serializer.ts";
import { makeSecret } from "./signature.ts";
import type { WebhookCounts } from "./metrics.ts";
import { sendNow } from "./sender.ts";
import type { WebhookRow, WebhookStore } from "./webhook-store.ts";

type WebhookServiceOptions = {
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  /** Checks URLs. */
  network: Sender;
  queue: Pick<SingletonQueue, "ensure" | "abort">;
  counts: WebhookCounts;
  clock: Clock;
};

export function createWebhookService(options: WebhookServiceOptions) {
  const { webhooks, deliveries, network, queue, clock } = options;
  const now = () => new Date(clock.now());

  return {
    list: (siteId: number, page: ListRequest) => webhooks.list(siteId, page),
    withSite: (id: number) => webhooks.withSite(id),
    /** Reads what responses show of webhooks in addition to their rows. */
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

    listDeliveries: deliveries.list,
    findDelivery: (id: number) => deliveries.byId(id),
    attempts: (deliveryId: number) => deliveries.attempts(deliveryId),

    /** @returns errors of a URL whose address may not be called */
    async checkUrl(url: string | undefined): Promise<FieldErrors> {
      const refusal = url === undefined ? null : await network.refusalOf(url);
      return refusal === null ? {} : { url: [refusal] };
    },

    create(
      site: SiteRow,
      { url, description = "", events }: CreateWebhookBody,
    ): Promise<WebhookRow> {
      return webhooks.transaction(async (tx) => {
        const row = await webhooks.insert(tx, {
          site_id: site.id,
          url,
          description,
          events: chosenEvents(events),
          secret: makeSecret(),
        });
        await recordActivity(tx, webhookEntry(row, site.serverId, "created", url));
        return row;
      });
    },

    /** Deletes a webhook, which then gets no further request. */
    async remove(webhook: WebhookRow, serverId: number): Promise<void> {
      await webhooks.transaction(async (tx) => {
        if (await webhooks.remove(tx, webhook.id))
          await recordActivity(
            tx,
            webhookEntry(webhook, serverId, "deleted", `${webhook.url} and its delivery history`),
          );
      });
      queue.abort(webhook.id, new Error("The webhook was deleted."));
    },

    /** Creates a new secret. The former one also signs for a day. */
    rotate: (webhook: WebhookRow, serverId: number): Promise<WebhookRow> =>
      webhooks.transaction(async (tx) => {
        const row = await webhooks.update(tx, webhook.id, {
          secret: makeSecret(),
          // In SQL, so that the second of two simultaneous rotations keeps the secret of the first.
          previous_secret: sql`secret` as unknown as string,
          previous_secret_until: new Date(clock.now() + rotationHours * 3600 * 1000),
        });
        if (row === null) throw conflict("The webhook no longer exists.");
        await recordActivity(tx, webhookEntry(row, serverId, "given a new secret"));
        return row;
      }),

    /** Sends a ping, to a disabled webhook too: a response enables it again. */
    async ping(webhook: WebhookRow, place: { serverId: number; siteName: string }) {
      return webhooks.transaction(async (tx) => {
        const [held] = await webhooks.hold(tx, [webhook.id]);
        if (held === undefined) throw conflict("The webhook no longer exists.");
        await queue.ensure(tx, [sendNow(webhook)]);
        const event = await recordEvent(tx, pingEvent(webhook, place));
        const delivery = await deliveries.insert(tx, {
          webhook_id: webhook.id,
          event_id: event.id,
          by_hand: true,
          next_attempt_at: now(),
        });
        return { delivery, event };
      });
    },

    /** Starts the attempts of a delivery again, with the same message id. */
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
          webhookEntry(
            webhook,
            serverId,
            "asked to redeliver",
            `${event.type}, delivery ${row.id}`,
          ),
        );
        return row;
      });
      return { delivery: changed, event };
    },

    change: createChangeWebhook(options),

    /**
     * Sends again the deliveries that a webhook missed while it was disabled or paused, in their order; or those that failed.
     * @throws ServiceError while it is disabled or paused, because it would miss them again
     */
    async sendAgain(
      webhook: WebhookRow,
      serverId: number,
      { status, since }: RedeliverBody,
    ): Promise<Redelivered> {
      const isMissed = status === undefined && since === undefined;
      return webhooks.transaction(async (tx) => {
        const [row] = await webhooks.lock(tx, [webhook.id]);
        if (row === undefined) throw conflict("The webhook no longer exists.");
        if (row.paused_at !== null)
          throw conflict("The webhook is paused. Enable the webhook, then redeliver.");
        if (row.disabled_at !== null)
          throw conflict(
            "The webhook is disabled. Enable or ping the webhook: a successful ping enables it.",
          );
        await queue.ensure(tx, [sendNow(row)]);
        const sent = isMissed
          ? { count: await sendMissed(tx, webhook.id, now()) }
          : await sendFailed(tx, webhook.id, new Date(since ?? 0), now());
        const many = sent.count === 1 ? "1 delivery" : `${sent.count} deliveries`;
        const detail = since === undefined ? many : `${many} since ${since}`;
        const action = isMissed
          ? "asked to redeliver what it missed"
          : "asked to redeliver failures";
        if (sent.count > 0)
          await recordActivity(tx, webhookEntry(webhook, serverId, action, detail));
        return sent;
      });
    },

    /** Ensures that every unfinished delivery has a job, and ends waits that are too long because the clock was ahead. */
    catchUp: (): Promise<void> =>
      webhooks.transaction(async (tx) => {
        await webhooks.endLongPauses(tx, now(), longestWaitMs);
        const ids = await deliveries.webhooksWithUnsent(tx);
        await queue.ensure(
          tx,
          ids.map((key) => ({ key, delayMs: 0 })),
        );
        await deliveries.endLongWaits(tx, now(), longestGapMs);
      }),

    /** Creates deliveries of events for the webhooks of their sites; those for disabled or paused webhooks count as missed. */
    receive: (async (tx, events) => {
      const due = events.filter(({ type }) => type !== "webhook.ping");
      const siteIds = [...new Set(due.flatMap((event) => event.siteIds))];
      const receivers = await webhooks.ofSites(tx, siteIds);
      await queue.ensure(
        tx,
        receivers.filter(({ disabled_at }) => disabled_at === null).map(sendNow),
      );
      const pending = {
        status: "pending" as const,
        status_reason: null,
        is_missed: false,
        next_attempt_at: now(),
        ended_at: null,
      };
      const rows = due.flatMap((event) =>
        receivers
          .filter((one) => event.siteIds.includes(one.site_id) && isWanted(event, one))
          .map(({ id, disabled_at, paused_at }) => ({
            webhook_id: id,
            event_id: event.id,
            order_key: event.order_key,
            ...(disabled_at === null
              ? pending
              : {
                  status: "failed" as const,
                  status_reason: `Not sent: the webhook was ${paused_at === null ? "disabled" : "paused"}.`,
                  is_missed: true,
                  next_attempt_at: null,
                  ended_at: now(),
                }),
          })),
      );
      await deliveries.insertAll(tx, rows);
    }) satisfies Receive,
  };
}

/** Whether a webhook gets an event. It gets none about itself, which it could not receive. */
const isWanted = (
  { type, data }: DispatchedEvent,
  { id, events }: Pick<WebhookRow, "id" | "events">,
): boolean =>
  // A ping cannot be chosen as an event.
  (events === null || events.some((chosen) => chosen === type)) &&
  !(roomOf(type) === "webhook" && data["webhook_id"] === id);

export type WebhookService = ReturnType<typeof createWebhookService>;
