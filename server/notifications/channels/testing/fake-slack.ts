// A fake of Slack's incoming webhooks with the limits of Block Kit and the responses of one word.
// https://docs.slack.dev/reference/block-kit/blocks,
// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling_errors
import { type HttpPeer, type PeerAnswer, startHttpPeer } from "./http-peer.ts";

type Element = {
  type: string;
  text?: string;
  url?: string;
  style?: { bold?: boolean };
  elements?: Element[];
};
type TextObject = { type: string; text: string; emoji?: boolean };
type SlackBlock = {
  type: string;
  text?: TextObject;
  fields?: TextObject[];
  elements?: Element[];
};
export type SlackMessage = { text?: string; mrkdwn?: boolean; blocks?: SlackBlock[] };

const path = "/services/T0AB12CD3/B0EF45GH6/xYzSecretOfSlack9";

export async function startFakeSlack(): Promise<HttpPeer & { webhook: string }> {
  const peer = await startHttpPeer(({ url, body }) => {
    if (url.pathname !== path) return refused(404, "no_service");
    // Limit of the whole request, which Slack checks first.
    if (Buffer.byteLength(body) > 100_000) return refused(400, "invalid_payload");
    const message = parse(body);
    if (message === null) return refused(400, "invalid_payload");
    const { text = "", blocks = [] } = message;
    if (text === "" && blocks.length === 0) return refused(400, "no_text");
    if (blocks.length > 50 || !blocks.every(isBlock)) return refused(400, "invalid_blocks");
    if (lengthOf(blocks) > 11_000) return refused(400, "msg_blocks_too_long");
    return { answer: { status: 200, body: "ok" }, accepted: message };
  });
  return { ...peer, webhook: `${peer.origin}${path}` };
}

const refused = (status: number, body: string) => ({
  answer: { status, body } satisfies PeerAnswer,
  accepted: null,
});

function parse(body: string): SlackMessage | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

const isText = (text: TextObject, max: number) =>
  ["plain_text", "mrkdwn"].includes(text.type) && text.text.length >= 1 && text.text.length <= max;

function isBlock({ type, text, fields, elements }: SlackBlock): boolean {
  switch (type) {
    case "header":
      return text?.type === "plain_text" && isText(text, 150);
    case "section":
      return (
        (text !== undefined || fields !== undefined) &&
        (text === undefined || isText(text, 3000)) &&
        (fields === undefined ||
          (fields.length >= 1 &&
            fields.length <= 10 &&
            fields.every((field) => isText(field, 2000))))
      );
    case "rich_text":
      return elements !== undefined && elements.length > 0 && elements.every(isRichText);
    case "divider":
      return true;
    default:
      return false;
  }
}

const isRichText = ({ type, elements = [] }: Element) =>
  ["rich_text_section", "rich_text_preformatted", "rich_text_quote"].includes(type) &&
  elements.length > 0 &&
  elements.every(({ type, text = "", url = "" }) =>
    type === "link" ? URL.canParse(url) && url.length <= 3000 : type === "text" && text !== "",
  );

/** Returns the length of all texts, for which Slack has an undocumented limit. */
function lengthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [key, part]: [string, unknown]) =>
      sum +
      (typeof part === "string"
        ? key === "text" || key === "url"
          ? part.length
          : 0
        : lengthOf(part)),
    0,
  );
}
