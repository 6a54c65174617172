// Wires the notifications: routes, the receiver of events, and the sender.
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock } from "../clock.ts";
import type { Receive } from "../events/outbox-relay.ts";
import type { Route } from "../http/route.ts";
import type { EntryTests } from "../inventory/try-entries.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { MetricsPart } from "../metrics/part.ts";
import type { SingletonQueue } from "../jobs/singleton-queue.ts";
import type { Database } from "../store/database.ts";
import type { Message } from "./channels/channel.ts";
import { createChannelStore } from "./channel-store.ts";
import type { SmtpSettings } from "./channels/smtp-url.ts";
import { createCoalesce } from "./coalesce.ts";
import { createEventChoices } from "./event-choices.ts";
import { createFormatMessage } from "./format-message.ts";
import { createMessageSender } from "./message-sender.ts";
import { createMessageStore } from "./message-store.ts";
import { countMessages, notificationMetrics } from "./metrics.ts";
import { createNotificationService } from "./notification-service.ts";
import { createDescribeChannel, createOpenChannel } from "./open-channel.ts";
import { notificationRoutes } from "./routes.ts";

type NotificationsOptions = {
  db: Database;
  inventory: InventoryStore;
  queue: SingletonQueue;
  secrets: SecretReader;
  /** Null where SMTP_URL is not set; email channels then report that. */
  smtp: SmtpSettings | null;
  /** @returns the dashboard's address, without a trailing slash; null where it is unknown yet */
  address(): string | null;
  /** Unique id of the installation. */
  installation: string;
  registry: Registry;
  clock: Clock;
  log: Logger;
};

type Notifications = {
  routes: Route[];
  receive: Receive;
  metrics: MetricsPart;
  /** Sends a test message to a channel that is not saved yet. */
  testEntry: EntryTests["channel"];
  /** Adds missing jobs for unsent messages. */
  catchUp(): Promise<void>;
  /** Starts to send, beginning with messages from before the start. */
  resume(): Promise<void>;
  stop(): Promise<void>;
};

export function createNotifications(options: NotificationsOptions): Notifications {
  const { db, inventory, queue, clock, log } = options;
  const messages = createMessageStore(db);
  const channels = createChannelStore(db);
  const sender = createMessageSender({
    messages,
    inventory,
    open: createOpenChannel(options).open,
    formatMessage: createFormatMessage(options),
    count: countMessages(options.registry),
    queue,
    clock,
    log,
  });
  const service = createNotificationService({ messages, channels, inventory, queue, clock });
  return {
    routes: notificationRoutes({
      service,
      choices: createEventChoices(channels, inventory),
      inventory,
      describe: createDescribeChannel(options),
    }),
    receive: createCoalesce({ messages, channels, queue, clock }),
    metrics: notificationMetrics,
    async testEntry(entry, secrets, signal) {
      const channel = await createOpenChannel({ ...options, secrets }).openEntry(entry);
      const answer = await channel.send(testMessage(options.installation), signal);
      return { message: `A test message was sent: ${answer}.`, details: [] };
    },
    catchUp: service.catchUp,
    async resume() {
      await service.catchUp();
      queue.work(sender);
    },
    stop: () => queue.stop(new Error("The service is stopping.")),
  };
}

const testMessage = (installation: string): Message => ({
  id: `msg_${installation}_test_${randomUUID()}`,
  outcome: "neutral",
  title: "Test message from Quarterdeck",
  facts: [],
  reason: null,
  link: null,
});
