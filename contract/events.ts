// What is reported to a site's webhooks and to the notification channels. What a request about
// each says stands in `event-payloads.ts`.

/** The events; each request to a webhook names one as its `type`. */
export const eventTypes = [
  "webhook.ping",
  "webhook.disabled",
  "webhook.enabled",
  "webhook.delivery_failed",
  "site.deployed",
  "site.deployment_failed",
  "backup.finished",
  "backup.failed",
  "backup.missed",
  "backup.damaged",
  "backup.drill_failed",
  "restore.finished",
  "restore.failed",
  "worker.failed",
  "worker.recovered",
  "worker.crash_looping",
  "worker.stable",
  "server.unreachable",
  "server.recovered",
] as const;
export type EventType = (typeof eventTypes)[number];

/** What a webhook and a channel can choose from. A ping is asked for by hand, and goes to its webhook whatever was chosen. */
export const subscribableEvents = eventTypes.filter((type) => type !== "webhook.ping");
export type SubscribableEvent = (typeof subscribableEvents)[number];

/** What goes as it should, and ends no problem. */
const routine: ReadonlySet<string> = new Set([
  "site.deployed",
  "backup.finished",
  "restore.finished",
]);
/** The events that report a problem, and those that report its end, such as `worker.recovered`. */
export const problemEvents = subscribableEvents.filter((type) => !routine.has(type));

/** The most bytes of a webhook request's body. */
export const maxEventBytes = 20_000;
