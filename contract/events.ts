// What can happen that is worth telling: to a site's webhooks, and to the notification channels. What a request about
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
] as const;
export type EventType = (typeof eventTypes)[number];

/** Each event as a short sentence begins with it: what came out, first. */
export const eventWords: Record<EventType, string> = {
  "webhook.ping": "Ping",
  "webhook.disabled": "Webhook disabled",
  "webhook.enabled": "Webhook enabled",
  "webhook.delivery_failed": "Webhook delivery failed",
  "site.deployed": "Deployed",
  "site.deployment_failed": "Deployment failed",
  "backup.finished": "Backup finished",
  "backup.failed": "Backup failed",
  "backup.missed": "Backup missed",
  "backup.damaged": "Backup damaged",
  "backup.drill_failed": "Restore drill failed",
  "restore.finished": "Restore finished",
  "restore.failed": "Restore failed",
  "worker.failed": "Worker failed",
  "worker.recovered": "Worker recovered",
  "worker.crash_looping": "Worker crash-looping",
  "worker.stable": "Worker stable",
};

/** When each is sent, for the documentation. */
export const eventOccasions: Record<EventType, string> = {
  "webhook.ping": "Somebody pinged the webhook. It is sent to that webhook alone.",
  "webhook.disabled":
    "A webhook of the site was disabled: its receiver answered 410, or it was tried in vain for five days. It is sent to the site's other webhooks.",
  "webhook.enabled":
    "A disabled webhook took a ping or a redelivery and is enabled again. It is sent to the site's other webhooks.",
  "webhook.delivery_failed":
    "A delivery to a webhook of the site was given up after its last attempt. It is sent to the site's other webhooks, once until that webhook takes something again.",
  "site.deployed": "A pipeline reported a deployment.",
  "site.deployment_failed": "A pipeline reported a deployment that failed.",
  "backup.finished": "A backup was stored and read back.",
  "backup.failed": "A backup could not be made.",
  "backup.missed": "No run has begun although the schedule asked for one.",
  "backup.damaged": "A stored backup is no longer what was stored.",
  "backup.drill_failed": "A backup could not be restored into a scratch place, or not whole.",
  "restore.finished": "A backup was restored.",
  "restore.failed": "A restore failed.",
  "worker.failed": "A worker's processes did not come up, or do not stay up.",
  "worker.recovered": "A worker that had failed is up again.",
  "worker.crash_looping":
    "A worker's processes come up again and again, whatever their exit codes.",
  "worker.stable": "A worker that was crash-looping has stayed up.",
};

/** The most bytes of a webhook request's body. */
export const maxEventBytes = 20_000;
