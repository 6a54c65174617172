// Human-readable facts about channels.
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

/** Returns the text of a type; an unknown one is returned unchanged. */
export const typeWord = (type: string): string => lookUp(typeWords, type) ?? type;

/** Returns the address without the scheme, which is the same for all channels. */
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
 * Returns why no test can be sent now. A test that is retried does not prevent another, because a user who has fixed
 * the cause wants to know at once, not in an hour. Nor does a problem of the channel: a test shows whether it is
 * solved.
 */
export const testRefusal = ({ last_message: last }: NotificationChannel): string | undefined =>
  last !== null && isTest(last) && last.status === "pending"
    ? "A test message is already being sent."
    : undefined;

const list = new Intl.ListFormat("en");

/** Describes a saved change, e.g. "ops will be notified about shop.example.com." */
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
 * Returns the error of one of the ids that were sent, which the service names by its index.
 * @param sent the ids in the order in which they were sent
 */
export function idTrouble(error: unknown, id: number, sent: readonly number[]): string {
  const fields = error instanceof ApiError ? error.fields : {};
  const own = [`channels.${sent.indexOf(id)}`, "channels"].flatMap((name) => fields[name] ?? []);
  // The service says "channels.2" where the user has typed 77.
  return own.length > 0 ? `Couldn't add channel ${id}: ${own.join(" ")}` : messageOf(error);
}

/**
 * Returns the previous channels with their present values, followed by new ones; the same array where nothing has
 * changed.
 */
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
