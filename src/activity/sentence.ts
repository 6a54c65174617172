// Describes an entry of the timeline in a sentence: type and name of the object, and the action.
import type { ActivityEntry } from "../../contract/activity.ts";
import { lookUp } from "../look-up.ts";
import { paths } from "../paths.ts";

type ObjectFacts = {
  word: string;
  /** Returns the path of its page; null = it has none. */
  pathOf: ((id: number) => string) | null;
};

const objects: Record<string, ObjectFacts> = {
  backup: { word: "Backup", pathOf: paths.backup },
  "backup-configuration": { word: "Backup configuration", pathOf: paths.backupConfiguration },
  worker: { word: "Worker", pathOf: paths.worker },
  webhook: { word: "Webhook", pathOf: (id) => paths.webhook(id) },
  // It is shown on its webhook's page, but the entry does not name the webhook.
  "webhook-delivery": { word: "Webhook delivery", pathOf: null },
  "notification-channel": { word: "Channel", pathOf: null },
  server: { word: "Server", pathOf: paths.server },
  site: { word: "Site", pathOf: (id) => paths.workers(id) },
  token: { word: "Token", pathOf: null },
};

/** Entries for which "Backup Shop failed" would be no sentence: the texts before and after the name. */
const exceptions: Record<string, readonly [before: string, after: string]> = {
  "notification-channel notified": ["Channel", "notified"],
  "notification-channel undelivered": ["Message to channel", "undelivered"],
  "notification-channel tested": ["Test message to channel", "sent"],
  "site chosen": ["Channels of site", "changed"],
  "site events chosen": ["Notified events of site", "changed"],
  "server chosen": ["Channels of server", "changed"],
  "site deployed": ["Site", "deployed"],
  "site deployment failed": ["Deployment of site", "failed"],
  "worker asked to start": ["Start of worker", "requested"],
  "worker asked to stop": ["Stop of worker", "requested"],
  "worker asked to restart": ["Restart of worker", "requested"],
  "worker order withdrawn": ["Request for worker", "withdrawn"],
  "worker killed": ["Processes of worker", "killed"],
  "worker change undone": ["Change of worker", "undone"],
  "backup asked to run": ["Run of backup", "requested"],
  "backup asked to restore": ["Restore of backup", "requested"],
  "backup asked to cancel": ["Cancellation of backup", "requested"],
  "backup cancelled": ["Run of backup", "canceled"],
  "backup restore cancelled": ["Restore of backup", "canceled"],
  "backup restore drill cancelled": ["Restore drill of backup", "canceled"],
  "backup restore failed": ["Restore of backup", "failed"],
  "backup found damaged": ["Backup", "damaged"],
  "backup drill failed": ["Restore drill of backup", "failed"],
  "backup proven restorable": ["Restore drill of backup", "passed"],
  "backup asked to import": ["Import into backup", "requested"],
  "backup imported": ["Import into backup", "finished"],
  "backup import failed": ["Import into backup", "failed"],
  "backup import cancelled": ["Import into backup", "canceled"],
  "backup asked to copy": ["Copy of backup", "requested"],
  "backup copy cancelled": ["Copy of backup", "canceled"],
  "backup asked to prove": ["Restore drill of backup", "requested"],
  "installation finished": ["Backup of", "finished"],
  "installation failed": ["Backup of", "failed"],
  "backup-configuration adopted": ["Backups adopted as", ""],
  "backup-configuration missed": ["Scheduled run of backup", "missed"],
  "webhook delivered": ["Delivery to webhook", "succeeded"],
  "webhook given a new secret": ["Secret of webhook", "rotated"],
  "webhook enabled again": ["Webhook", "enabled"],
  "webhook asked to redeliver": ["Redelivery to webhook", "requested"],
  "webhook asked to redeliver what it missed": ["Missed deliveries of webhook", "resent"],
  "webhook asked to redeliver failures": ["Failed deliveries of webhook", "resent"],
  "webhook gave up a delivery": ["Delivery to webhook", "failed permanently"],
  "webhook delivery failed": ["Delivery to webhook", "failed"],
};

/** Converts "backup-configuration" to "Backup configuration", for types that only the service has. */
function wordOf(type: string): string {
  const words = type.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

type Sentence = {
  /** E.g. "Backup". */
  before: string;
  /** Name of the object. */
  name: string;
  /** E.g. "failed". */
  after: string;
  /** Path of its page; null = it has none. */
  to: string | null;
};

export function sentenceOf({ object, action }: ActivityEntry): Sentence {
  const { type, id } = object;
  const facts = lookUp(objects, type);
  const word = facts?.word ?? wordOf(type);
  const key = `${type} ${action}`;
  const exception = lookUp(exceptions, key);
  // Some names begin with their type: "worker 7 of shop".
  const isDouble = object.name.toLowerCase().startsWith(`${word.toLowerCase()} `);
  const name = isDouble ? object.name.slice(word.length + 1) : object.name;
  return {
    before: exception?.[0] ?? word,
    name: name === "" ? String(id) : name,
    after: exception?.[1] ?? action.replace(/^asked to (.+)$/, "$1 requested"),
    to: facts?.pathOf?.(id) ?? null,
  };
}

const endings = new Set(["deleted", "removed", "revoked"]);

export const keyOf = ({ object }: ActivityEntry): string => `${object.type} ${object.id}`;

/** Returns the objects that an entry reports as deleted. Ids are never reused. */
export const goneIn = (entries: readonly ActivityEntry[]): ReadonlySet<string> =>
  new Set(entries.filter(({ action }) => endings.has(action)).map(keyOf));
