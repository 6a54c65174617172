// Sends to a channel of Discord, by its webhook
// (https://discord.com/developers/docs/resources/webhook#execute-webhook).
import type { Channel, ChannelError, Message } from "./channel.ts";
import { cut } from "./cut.ts";
import { type ProviderResponse, postJson, readWebhook, refusal } from "./post-json.ts";
import { messageLimits, tidyMessage } from "./tidy-message.ts";

// https://discord.com/developers/docs/resources/message#embed-object-embed-limits. messageLimits keep the other limits, 4096 for the
// description, 1024 for values and 6000 in all, although escaping can double a text.
const maxTitle = 256;

const colors = { good: 0x16a34a, bad: 0xdc2626, neutral: 0x64748b } satisfies Record<
  Message["outcome"],
  number
>;

type DiscordBody = { id?: unknown; message?: unknown; errors?: unknown; retry_after?: unknown };

export const createDiscordChannel = (options: {
  webhook: string;
  timeoutMs?: number;
}): Channel => ({
  async send(message, signal) {
    const url = readWebhook(options.webhook, "Discord");
    // Without it, Discord responds before it checks the message.
    url.searchParams.set("wait", "true");
    const response = await postJson(url, render(tidyMessage(message)), {
      provider: "Discord",
      signal,
      timeoutMs: options.timeoutMs,
    });
    const body = parse(response.text);
    if (response.status === 204) return "204 no content";
    // An HTML page with status 200, such as the login page of a proxy, is no delivery.
    const isPage = response.text.trimStart().startsWith("<");
    if (response.status === 200 && response.broken === null && !isPage)
      return typeof body?.id === "string" ? `200 message ${cut(body.id, 40)}` : "200 ok";
    // Discord has posted the message by then, and would post it again.
    const isJson = /^application\/json\b/i.test(response.contentType);
    if (response.status === 200 && isJson && !isPage) return "200 ok, and the response broke off";
    if (response.status < 300 && response.broken !== null) throw response.broken;
    throw tellRefusal(response, body);
  },
});

function render({ outcome, title, facts, reason, link }: Message) {
  // The link is part of the text, because Discord refuses an embed whose `url` has a host without a top-level domain, e.g.
  // `localhost` or `web-1` (https://github.com/bugsink/bugsink/issues/280).
  const description = [reason && codeBlock(reason), link && `<${link}>`].filter(Boolean).join("\n");
  return {
    embeds: [
      {
        title: cutEscaped(title, maxTitle),
        ...(description !== "" && { description }),
        color: colors[outcome],
        fields: facts.map(([label, value]) => ({
          name: cutEscaped(label, messageLimits.label),
          value: cutEscaped(value, messageLimits.value),
          inline: value.length <= 40,
        })),
      },
    ],
    allowed_mentions: { parse: [] },
  };
}

/** Zero-width spaces keep backticks in the text from closing the block. */
const codeBlock = (text: string) => `\`\`\`\n${text.replace(/`(?=`)/g, "`\u200b")}\n\`\`\``;

const escape = (text: string) =>
  text
    // Including the colon, which turns `:words:` into emoji and addresses into links.
    .replace(/[\\*_~`|<>[\]():@#]/g, "\\$&")
    // List markers, which have a meaning at the start of a line only.
    .replace(/^(\s*)([-+])/gm, "$1\\$2")
    .replace(/^(\s*\d+)\./gm, "$1\\.");

/** Truncates before escaping, so that no escape sequence is split, to a limit for the escaped text. */
function cutEscaped(text: string, limit: number): string {
  let room = limit;
  for (;;) {
    const escaped = escape(cut(text, room));
    const excess = escaped.length - limit;
    if (excess <= 0) return escaped;
    // Each removed character has at most one escape.
    room -= Math.ceil(excess / 2);
  }
}

function parse(text: string): DiscordBody | null {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" ? body : null;
  } catch {
    // The page of a proxy, or a message that is longer than the part that is read.
    return null;
  }
}

function tellRefusal(response: ProviderResponse, body: DiscordBody | null): ChannelError {
  const { message, errors, retry_after: retryAfter } = body ?? {};
  const words = typeof message === "string" ? [message, ...listErrors(errors)].join("; ") : null;
  // The value in the body is more precise than the header, which is rounded up to seconds.
  const retryAfterMs =
    typeof retryAfter === "number"
      ? Math.max(0, Math.ceil(retryAfter * 1000))
      : response.retryAfterMs;
  const isGone = response.status === 401 || response.status === 403 || response.status === 404;
  const advice = isGone ? "Create a new webhook in Discord and use its URL for this channel." : "";
  return refusal("Discord", { ...response, retryAfterMs }, words ?? response.text, advice);
}

/** Formats `{"embeds": {"0": {"title": {"_errors": [{"message": "…"}]}}}}` as `embeds.0.title: …`. */
function listErrors(errors: unknown, path = ""): string[] {
  if (typeof errors === "string") return [`${path}: ${errors}`];
  if (typeof errors !== "object" || errors === null) return [];
  return Object.entries(errors).flatMap(([key, value]: [string, unknown]) => {
    if (key === "_errors" && Array.isArray(value))
      return value.map((error: { message?: unknown }) => `${path}: ${String(error.message)}`);
    return listErrors(value, path === "" ? key : `${path}.${key}`);
  });
}
