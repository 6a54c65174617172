// An entry of the timeline as a sentence: what it is about, which one, what was done.
import type { ActivityEntry } from "../../contract/activity.ts";
import { paths } from "../paths.ts";

type ObjectFacts = {
  word: string;
  /** Its page, if it has one. */
  pathOf: ((id: number) => string) | null;
};

const objects: Record<string, ObjectFacts> = {
  backup: { word: "Backup", pathOf: paths.backup },
  "backup-configuration": { word: "Backup configuration", pathOf: paths.backupConfiguration },
  worker: { word: "Worker", pathOf: paths.worker },
  webhook: { word: "Webhook", pathOf: (id) => paths.webhook(id) },
  // Its page is its webhook's, which the entry does not name.
  "webhook-delivery": { word: "Webhook delivery", pathOf: null },
  "notification-channel": { word: "Channel", pathOf: null },
  site: { word: "Site", pathOf: (id) => paths.workers(id) },
  token: { word: "Token", pathOf: null },
};

/** Where "Backup Shop failed" would not be a sentence: what stands before the name, and after it. */
const exceptions: Record<string, readonly [before: string, after: string]> = {
  "notification-channel told": ["Channel", "was told"],
  "notification-channel not told": ["Channel", "could not be told"],
  "notification-channel tested": ["Channel", "was sent a test message"],
  "site chosen": ["Channels of site", "were chosen"],
  "server chosen": ["Channels of server", "were chosen"],
  "site deployed": ["Site", "was deployed"],
  "site deployment failed": ["Deployment of site", "failed"],
  "worker up": ["Worker", "is up"],
  "worker killed": ["Processes of worker", "were killed"],
  "backup asked to run": ["A run of backup", "was asked for"],
  "backup asked to restore": ["A restore of backup", "was asked for"],
  "backup asked to cancel": ["Cancelling backup", "was asked for"],
  "backup cancelled": ["Run of backup", "was cancelled"],
  "backup restore cancelled": ["Restore of backup", "was cancelled"],
  "backup restore drill cancelled": ["Restore drill of backup", "was cancelled"],
  "backup restore failed": ["Restore of backup", "failed"],
  "backup found damaged": ["Backup", "was found damaged"],
  "backup drill failed": ["Restore drill of backup", "failed"],
  "backup asked to prove": ["A restore drill of backup", "was asked for"],
  "webhook delivered": ["Delivery to webhook", "arrived"],
  "webhook asked to be told again": ["Another delivery to webhook", "was asked for"],
  "webhook asked to be told what it missed": ["What webhook", "missed was sent again"],
  "webhook gave up a delivery": ["A delivery to webhook", "was given up"],
  "webhook delivery failed": ["Delivery to webhook", "failed"],
};

/** "backup-configuration" as "Backup configuration", for what only the service knows. */
function wordOf(type: string): string {
  const words = type.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export type Sentence = {
  /** E.g. "Backup". */
  before: string;
  /** Which one. */
  name: string;
  /** E.g. "failed". */
  after: string;
  /** Where its page is; null = it has none. */
  to: string | null;
};

export function sentenceOf({ object, action }: ActivityEntry): Sentence {
  const { type, id } = object;
  const facts = Object.hasOwn(objects, type) ? objects[type] : undefined;
  const word = facts?.word ?? wordOf(type);
  const key = `${type} ${action}`;
  const exception = Object.hasOwn(exceptions, key) ? exceptions[key] : undefined;
  // Some names begin with the word that stands before them: "worker 7 of shop".
  const isDouble = object.name.toLowerCase().startsWith(`${word.toLowerCase()} `);
  const name = isDouble ? object.name.slice(word.length + 1) : object.name;
  return {
    before: exception?.[0] ?? word,
    name: name === "" ? String(id) : name,
    after: exception?.[1] ?? action.replace(/^asked to /, "was asked to "),
    to: facts?.pathOf?.(id) ?? null,
  };
}

const endings = new Set(["deleted", "removed", "revoked"]);

export const keyOf = ({ object }: ActivityEntry): string => `${object.type} ${object.id}`;

/** What is known to be gone, because an entry says so. No id is used twice. */
export const goneIn = (entries: readonly ActivityEntry[]): ReadonlySet<string> =>
  new Set(entries.filter(({ action }) => endings.has(action)).map(keyOf));
