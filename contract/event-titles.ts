// Human-readable titles of events. Separate from their names, which every page loads.
import type { EventType } from "./events.ts";

/** The title of each event: its object and the outcome, in a few words. */
export const eventTitles: Record<EventType, string> = {
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
  "server.unreachable": "Server unreachable",
  "server.recovered": "Server recovered",
};

/** When each event is sent, for the documentation. */
export const eventOccasions: Record<EventType, string> = {
  "webhook.ping": "A user pinged the webhook. Sent to that webhook only.",
  "webhook.disabled":
    "A webhook of the site was disabled: its receiver returned 410 Gone, or every attempt failed for five days. Sent to the site's other webhooks.",
  "webhook.enabled":
    "A disabled webhook is enabled again: it accepted a ping or a redelivery, or a user enabled it. Sent to the site's other webhooks.",
  "webhook.delivery_failed":
    "A delivery to a webhook of the site failed at its last attempt. Sent to the site's other webhooks, once until that webhook accepts a delivery again.",
  "site.deployed": "A pipeline reported a deployment.",
  "site.deployment_failed": "A pipeline reported a deployment that failed.",
  "backup.finished": "A backup was stored and verified.",
  "backup.failed": "A backup failed.",
  "backup.missed": "A scheduled run didn't start.",
  "backup.damaged": "A stored backup failed verification.",
  "backup.drill_failed": "A test restore failed or was incomplete.",
  "restore.finished": "A backup was restored.",
  "restore.failed": "A restore failed.",
  "worker.failed": "A worker's processes didn't start or don't stay up.",
  "worker.recovered": "A worker that had failed is up again.",
  "worker.crash_looping":
    "A worker's processes keep starting and exiting, whatever their exit codes.",
  "worker.stable": "A worker that was crash-looping has stayed up.",
  "server.unreachable":
    "A server over SSH doesn't respond, refuses the connection, or shows another host key. Sent once, to all its sites.",
  "server.recovered": "A server that was unreachable responds again.",
};
