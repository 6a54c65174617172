// The events that are sent to a site's webhooks and to notification channels. `event-payloads.ts` has the contents of
// the requests.

/** All events. The `type` of a webhook request is one of them. */
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

/**
 * Events that webhooks and channels can subscribe to. A ping is sent by hand, and to its webhook only, whatever it
 * subscribes to.
 */
export const subscribableEvents = eventTypes.filter((type) => type !== "webhook.ping");
export type SubscribableEvent = (typeof subscribableEvents)[number];

/** Events of normal operation, which report neither a problem nor its end. */
const routine: ReadonlySet<string> = new Set([
  "site.deployed",
  "backup.finished",
  "restore.finished",
]);
/** The events that report a problem, and those that report its end, such as `worker.recovered`. */
export const problemEvents = subscribableEvents.filter((type) => !routine.has(type));

/** Maximum size of the body of a webhook request, in bytes. */
export const maxEventBytes = 20_000;
