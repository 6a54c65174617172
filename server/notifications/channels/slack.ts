// Sends to Slack by an incoming webhook
// (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). Foreign text is put into elements that Slack does not
// parse as markup.
import type { Channel, Message } from "./channel.ts";
import { cut } from "./cut.ts";
import { postJson, readWebhook, refusal } from "./post-json.ts";
import { tidyMessage } from "./tidy-message.ts";

// https://docs.slack.dev/reference/block-kit/blocks/header-block
const maxHeader = 150;

const marks = { good: "✅", bad: "🔴", neutral: "ℹ️" } satisfies Record<Message["outcome"], string>;

const gone = "Create a new webhook in Slack and use its URL for this channel.";
const adviceByResponse: Record<string, string> = {
  no_service: gone,
  no_active_hooks: gone,
  no_team: gone,
  invalid_token: gone,
  channel_not_found: gone,
  channel_is_archived: "Unarchive the channel in Slack, or create a webhook for another channel.",
  action_prohibited: "Ask an administrator of the Slack workspace to allow incoming webhooks.",
  posting_to_general_channel_denied: "Create a webhook for another channel.",
};

export const createSlackChannel = (options: { webhook: string; timeoutMs?: number }): Channel => ({
  async send(message, signal) {
    const url = readWebhook(options.webhook, "Slack");
    const response = await postJson(url, render(tidyMessage(message)), {
      provider: "Slack",
      signal,
      timeoutMs: options.timeoutMs,
    });
    const words = response.text.trim();
    // An HTML page with status 200, such as the login page of a proxy, is no delivery.
    if (response.status === 200 && words === "ok") return "200 ok";
    if (response.status < 300 && response.broken !== null) throw response.broken;
    throw refusal("Slack", response, words, adviceByResponse[words]);
  },
});

const text = (text: string, style?: { bold: true }) => ({
  type: "text",
  text,
  ...(style && { style }),
});
const section = (elements: object[]) => ({ type: "rich_text_section", elements });

function render({ outcome, title, facts, reason, link }: Message) {
  const lines = facts.flatMap(([label, value], index) => [
    text(`${index === 0 ? "" : "\n"}${label}: `, { bold: true }),
    text(value),
  ]);
  const elements = [
    ...(lines.length === 0 ? [] : [section(lines)]),
    ...(reason === null ? [] : [{ type: "rich_text_preformatted", elements: [text(reason)] }]),
    ...(link === null ? [] : [section([{ type: "link", url: link, text: "Open in Quarterdeck" }])]),
  ];
  const heading = cut(`${marks[outcome]} ${title}`, maxHeader);
  return {
    // For notifications of phones and for screen readers, in place of the blocks.
    text: escape(heading),
    mrkdwn: false,
    // Slack could only show a login page as the preview of the link.
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: "header", text: { type: "plain_text", text: heading, emoji: false } },
      ...(elements.length === 0 ? [] : [{ type: "rich_text", elements }]),
    ],
  };
}

// https://docs.slack.dev/messaging/formatting-message-text#escaping
const escape = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
