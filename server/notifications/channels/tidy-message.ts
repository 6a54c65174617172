// The same first step for every channel: a message whose texts are short and harmless, but not yet
// any provider's markup.
import { oneLine, plainText } from "./cut.ts";
import type { Message } from "./channel.ts";

/**
 * UTF-16 units. Ten facts, the reason and the link together stay below what a provider takes of one
 * message: Discord 6,000; Slack, by experience, about 11,000
 * (https://github.com/slackapi/bolt-js/issues/2867).
 */
export const messageLimits = {
  title: 256,
  facts: 10,
  label: 60,
  value: 300,
  reason: 800,
  link: 500,
} as const;

/** Nothing in the answer is empty: providers refuse a whole message for one empty text. */
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

/** A link that is cut leads nowhere, so one that is too long is left out. */
function safeLink(link: string): string | null {
  const url = URL.parse(link);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") return null;
  return url.href.length <= messageLimits.link ? url.href : null;
}
