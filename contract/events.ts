// What can happen that is worth telling: to a site's webhooks, and to its notification channels.

/** The events of webhooks; each request names one as its `type`. */
export const webhookEventTypes = [
  "webhook.ping",
  "site.deployed",
  "site.deployment_failed",
  "backup.finished",
  "backup.failed",
  "backup.missed",
  "restore.finished",
  "restore.failed",
  "worker.failed",
  "worker.recovered",
] as const;

/** A webhook cannot be told that it was given up, so this one goes to the channels alone. */
export const channelOnlyEventTypes = ["webhook.disabled"] as const;

export const eventTypes = [...webhookEventTypes, ...channelOnlyEventTypes] as const;
export type EventType = (typeof eventTypes)[number];

/** Each event as a short sentence begins with it: what came out, first. */
export const eventWords: Record<EventType, string> = {
  "webhook.ping": "Ping",
  "site.deployed": "Deployed",
  "site.deployment_failed": "Deployment failed",
  "backup.finished": "Backup finished",
  "backup.failed": "Backup failed",
  "backup.missed": "Backup missed",
  "restore.finished": "Restore finished",
  "restore.failed": "Restore failed",
  "worker.failed": "Worker failed",
  "worker.recovered": "Worker recovered",
  "webhook.disabled": "Webhook disabled",
};

/** The most bytes of a webhook request's body. */
export const maxEventBytes = 20_000;
