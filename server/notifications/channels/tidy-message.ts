// Truncates and cleans a message, as the first step of every channel, before the provider's markup is added.
import { oneLine, plainText } from "./cut.ts";
import type { Message } from "./channel.ts";

/**
 * In UTF-16 units. Ten facts, the reason and the link together stay below the providers' limits for a message: 6,000 for Discord,
 * about 11,000 for Slack, by experience (https://github.com/slackapi/bolt-js/issues/2867).
 */
export const messageLimits = {
  title: 256,
  facts: 10,
  label: 60,
  value: 300,
  reason: 800,
  link: 500,
} as const;

/** Removes empty texts, for one of which a provider refuses the whole message. */
export function tidyMessage(message: Message): Message {
  const limits = messageLimits;
  const reason = plainText(message.reason ?? "", limits.reason);
  return {
    id: message.id,
    outcome: message.outcome,
    title: oneLine(message.title, limits.title) || "Notification",
    facts: message.facts
      .slice(0, limits.facts)
      .map(([label, value]) => [
        oneLine(label, limits.label) || "–",
        plainText(value, limits.value).trim() || "–",
      ]),
    reason: reason.trim() === "" ? null : reason,
    link: message.link === null ? null : safeLink(message.link),
  };
}

/** Drops a link that is too long, since a truncated one would lead nowhere. */
function safeLink(link: string): string | null {
  const url = URL.parse(link);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") return null;
  return url.href.length <= messageLimits.link ? url.href : null;
}
