// What the page says of a channel, in words.
import type {
  ChannelMessage,
  ChannelMessageState,
  ChannelType,
  Notification,
  NotificationChannel,
} from "../../contract/notifications/notification.ts";
import { ApiError, messageOf } from "../api/api-error.ts";
import type { StateLook } from "../app/StateBadge.tsx";
import { lookUp } from "../look-up.ts";
import type { Changes } from "./channel-selection.ts";

const typeWords: Record<ChannelType, string> = {
  slack: "Slack",
  discord: "Discord",
  email: "Email",
};

/** A service may know kinds that we do not. */
export const typeWord = (type: string): string => lookUp(typeWords, type) ?? type;

/** Without the scheme, which is the same for all of them and takes the room of what tells them apart. */
export const addressOf = ({ meta }: Notification): string | null =>
  (meta.webhook ?? meta.email)?.replace(/^https?:\/\//, "") ?? null;

export const messageLooks: Record<ChannelMessageState, StateLook> = {
  pending: { tone: "busy", help: "Not sent yet." },
  retrying: { tone: "warn", help: "The last attempt failed. Quarterdeck retries automatically." },
  delivered: { tone: "good", help: "The provider accepted the message." },
  failed: {
    tone: "bad",
    help: "Not delivered: the provider rejected the message, or no attempt succeeded. Quarterdeck doesn't retry.",
  },
};

const isTest = ({ event }: ChannelMessage): boolean => event === "channel.test";

/**
 * Why no test can be sent now. One that is retried does not count: whoever has mended what was wrong wants to know at
 * once, not in an hour. Nor does trouble: a test tells whether it is over.
 */
export const testRefusal = ({ last_message: last }: NotificationChannel): string | undefined =>
  last !== null && isTest(last) && last.status === "pending"
    ? "A test message is already being sent."
    : undefined;

const list = new Intl.ListFormat("en");

/** What a saved change means, e.g. "ops will be notified about shop.example.com." */
export function savedText(
  changes: Changes,
  nameOf: (id: number) => string,
  siteName: string,
): string {
  const names = (wanted: boolean) =>
    [...changes].filter(([, isChosen]) => isChosen === wanted).map(([id]) => nameOf(id));
  const [on, off] = [names(true), names(false)];
  if (off.length === 0) return `${list.format(on)} will be notified about ${siteName}.`;
  if (on.length === 0) return `${list.format(off)} will no longer be notified about ${siteName}.`;
  return `${list.format(on)} will be notified about ${siteName}. ${list.format(off)} will no longer be.`;
}

/**
 * The complaint about one of the ids that were sent; the service names it by its place.
 * @param sent the ids in the order in which they were sent
 */
export function idTrouble(error: unknown, id: number, sent: readonly number[]): string {
  const fields = error instanceof ApiError ? error.fields : {};
  const own = [`channels.${sent.indexOf(id)}`, "channels"].flatMap((name) => fields[name] ?? []);
  // The service says "channels.2" where a person has typed 77.
  return own.length > 0 ? `Couldn't add channel ${id}: ${own.join(" ")}` : messageOf(error);
}

/** What was seen before, as it is now, and what has come; the same list when nothing has changed. */
export function withSeen(
  seen: readonly Notification[],
  now: readonly Notification[],
): readonly Notification[] {
  const isNew = ({ id }: Notification) => !seen.some((other) => other.id === id);
  const next = [
    ...seen.map((channel) => now.find(({ id }) => id === channel.id) ?? channel),
    ...now.filter(isNew),
  ];
  const isSame =
    next.length === seen.length && next.every((channel, index) => channel === seen[index]);
  return isSame ? seen : next;
}
