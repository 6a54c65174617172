// Creates the room: its routes, the deliveries of events, and the start and stop of sending.
import type { Registry } from "prom-client";
import type { Clock } from "../clock.ts";
import type { Receive } from "../events/outbox-relay.ts";
import type { Route } from "../http/route.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { MetricsPart } from "../metrics/part.ts";
import type { Sender } from "../net/send.ts";
import type { SingletonQueue } from "../jobs/singleton-queue.ts";
import type { Database } from "../store/database.ts";
import { createAttempt } from "./attempt.ts";
import { createDeliveryStore } from "./delivery-store.ts";
import { createWebhookCounts, webhookMetrics } from "./metrics.ts";
import { webhookRoutes } from "./routes.ts";
import { createWebhookSender } from "./sender.ts";
import { createRecordAttempts } from "./record-attempt.ts";
import { createWebhookService } from "./webhook-service.ts";
import { createWebhookStore } from "./webhook-store.ts";

type WebhooksOptions = {
  db: Database;
  inventory: InventoryStore;
  queue: SingletonQueue;
  network: Sender;
  /** `User-Agent` of requests to receivers. */
  userAgent: string;
  registry: Registry;
  clock: Clock;
};

type Webhooks = {
  routes: Route[];
  receive: Receive;
  metrics: MetricsPart;
  /** Ensures that every unfinished delivery has a job. */
  catchUp(): Promise<void>;
  /** Begins to send, first the deliveries that an earlier run of the service left. */
  resume(): Promise<void>;
  stop(): Promise<void>;
};

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { db, inventory, queue, network, userAgent, registry, clock } = options;
  const webhooks = createWebhookStore(db);
  const deliveries = createDeliveryStore(db);
  const counts = createWebhookCounts(registry);
  const sender = createWebhookSender({
    deliveries,
    attempt: createAttempt({ sender: network, userAgent, clock }),
    recordAttempts: createRecordAttempts({
      webhooks,
      queue,
      counts,
      clock,
      random: Math.random,
    }),
    clock,
  });
  const service = createWebhookService({ webhooks, deliveries, network, queue, counts, clock });
  return {
    routes: webhookRoutes(service, inventory),
    receive: service.receive,
    metrics: webhookMetrics,
    catchUp: service.catchUp,
    async resume() {
      await service.catchUp();
      queue.work(sender);
    },
    stop: () => queue.stop(new Error("The service is stopping.")),
  };
}
