// Discord, by a webhook of one of its channels
// (https://discord.com/developers/docs/resources/webhook#execute-webhook).
import type { Channel, ChannelError, Message } from "./channel.ts";
import { cut } from "./cut.ts";
import { type ProviderResponse, postJson, readWebhook, refusal } from "./post-json.ts";
import { messageLimits, tidyMessage } from "./tidy-message.ts";

// https://discord.com/developers/docs/resources/message#embed-object-embed-limits: a description of
// 4096, values of 1024 and 6000 in all are kept by messageLimits, though escapes double a text at
// most.
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
    // Without it Discord answers before it has looked at the message.
    url.searchParams.set("wait", "true");
    const response = await postJson(url, render(tidyMessage(message)), {
      provider: "Discord",
      signal,
      timeoutMs: options.timeoutMs,
    });
    const body = parse(response.text);
    if (response.status === 204) return "204 no content";
    // A page with 200, e.g. of a proxy that asks for a login, is no delivery.
    const isPage = response.text.trimStart().startsWith("<");
    if (response.status === 200 && response.broken === null && !isPage)
      return typeof body?.id === "string" ? `200 message ${cut(body.id, 40)}` : "200 ok";
    // By then Discord has made the message, and would make another one.
    const isJson = /^application\/json\b/i.test(response.contentType);
    if (response.status === 200 && isJson && !isPage) return "200 ok, and the response broke off";
    if (response.status < 300 && response.broken !== null) throw response.broken;
    throw tellRefusal(response, body);
  },
});

function render({ outcome, title, facts, reason, link }: Message) {
  // The link stands in the text: as the embed's `url` a host without a top-level domain, e.g.
  // `localhost` or `web-1`, makes Discord refuse the message
  // (https://github.com/bugsink/bugsink/issues/280).
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

/** A space of no width keeps backticks in the text from closing the block. */
const codeBlock = (text: string) => `\`\`\`\n${text.replace(/`(?=`)/g, "`\u200b")}\n\`\`\``;

const escape = (text: string) =>
  text
    // The colon too: it makes emoji of `:words:` and links of addresses.
    .replace(/[\\*_~`|<>[\]():@#]/g, "\\$&")
    // Lists, which are such at the start of a line only.
    .replace(/^(\s*)([-+])/gm, "$1\\$2")
    .replace(/^(\s*\d+)\./gm, "$1\\.");

/** Cut before it is escaped, so that no escape is parted, but to a limit on what comes of it. */
function cutEscaped(text: string, limit: number): string {
  let room = limit;
  for (;;) {
    const escaped = escape(cut(text, room));
    const excess = escaped.length - limit;
    if (excess <= 0) return escaped;
    // Each character that goes takes one escape along at most.
    room -= Math.ceil(excess / 2);
  }
}

function parse(text: string): DiscordBody | null {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" ? body : null;
  } catch {
    // A proxy's page, or a message longer than what is read of a response.
    return null;
  }
}

function tellRefusal(response: ProviderResponse, body: DiscordBody | null): ChannelError {
  const { message, errors, retry_after: retryAfter } = body ?? {};
  const words = typeof message === "string" ? [message, ...listErrors(errors)].join("; ") : null;
  // The body's is finer than the header's, which is rounded up to whole seconds.
  const retryAfterMs =
    typeof retryAfter === "number"
      ? Math.max(0, Math.ceil(retryAfter * 1000))
      : response.retryAfterMs;
  const isGone = response.status === 401 || response.status === 403 || response.status === 404;
  const advice = isGone ? "Create a new webhook in Discord and use its URL for this channel." : "";
  return refusal("Discord", { ...response, retryAfterMs }, words ?? response.text, advice);
}

/** `{"embeds": {"0": {"title": {"_errors": [{"message": "…"}]}}}}` as `embeds.0.title: …`. */
function listErrors(errors: unknown, path = ""): string[] {
  if (typeof errors === "string") return [`${path}: ${errors}`];
  if (typeof errors !== "object" || errors === null) return [];
  return Object.entries(errors).flatMap(([key, value]: [string, unknown]) => {
    if (key === "_errors" && Array.isArray(value))
      return value.map((error: { message?: unknown }) => `${path}: ${String(error.message)}`);
    return listErrors(value, path === "" ? key : `${path}.${key}`);
  });
}
