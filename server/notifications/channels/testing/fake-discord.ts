// A fake of Discord's webhooks with the limits of embeds and the responses in JSON.
// https://discord.com/developers/docs/resources/message#embed-object-embed-limits,
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
import { type HttpPeer, startHttpPeer } from "./http-peer.ts";

type DiscordEmbed = {
  title?: string;
  description?: string;
  url?: string;
  color?: number;
  fields?: { name?: string; value?: string; inline?: boolean }[];
};
export type DiscordMessage = {
  content?: string;
  embeds?: DiscordEmbed[];
  allowed_mentions?: { parse?: string[] };
};

const path = "/api/webhooks/112233445566778899/";
const token = "dIsCoRd_SeCrEt-0123456789";

export async function startFakeDiscord(): Promise<HttpPeer & { webhook: string }> {
  const peer = await startHttpPeer(({ url, type, body }) => {
    if (!url.pathname.startsWith(path)) return refused(404, 10015, "Unknown Webhook");
    if (url.pathname !== path + token) return refused(401, 50027, "Invalid Webhook Token");
    const message = type.startsWith("application/json") ? parse(body) : null;
    if (message === null) return refused(400, 50109, "The request body contains invalid JSON.");
    const { content = "", embeds = [] } = message;
    if (content.trim() === "" && embeds.length === 0)
      return refused(400, 50006, "Cannot send an empty message");
    const errors = judgeEmbeds(embeds);
    if (errors) return refused(400, 50035, "Invalid Form Body", { embeds: errors });
    if (url.searchParams.get("wait") !== "true")
      return { answer: { status: 204 }, accepted: message };
    return { answer: { status: 200, body: { id: "1234567890", type: 0 } }, accepted: message };
  });
  return { ...peer, webhook: `${peer.origin}${path}${token}` };
}

const refused = (status: number, code: number, message: string, errors?: object) => ({
  answer: { status, body: { message, code, ...(errors && { errors }) } },
  accepted: null,
});

function parse(body: string): DiscordMessage | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

const trouble = (code: string, message: string) => ({ _errors: [{ code, message }] });
const tooLong = (max: number) =>
  trouble("BASE_TYPE_MAX_LENGTH", `Must be ${max} or fewer in length.`);

/** Discord trims a text before it checks its length, so a required text must not be blank. */
function judgeText(text: string | undefined, max: number, isRequired: boolean): object | null {
  const length = (text ?? "").trim().length;
  if (length === 0 && isRequired) return trouble("BASE_TYPE_REQUIRED", "This field is required");
  return length > max ? tooLong(max) : null;
}

function judgeEmbeds(embeds: DiscordEmbed[]): object | null {
  if (embeds.length > 10) return tooLong(10);
  const total = embeds
    .flatMap(({ title, description, fields = [] }) => [
      title,
      description,
      ...fields.flatMap(({ name, value }) => [name, value]),
    ])
    .reduce((sum, text) => sum + (text ?? "").trim().length, 0);
  if (total > 6000)
    return trouble("MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000");
  return withTrouble(embeds.map(judgeEmbed));
}

function judgeEmbed({ title, description, url, fields = [] }: DiscordEmbed): object | null {
  return withTrouble({
    title: judgeText(title, 256, false),
    description: judgeText(description, 4096, false),
    // Discord refuses hosts without a top-level domain.
    url:
      url === undefined || /^https?:\/\/[^/:]+\.[^/:]+/.test(url)
        ? null
        : trouble("URL_TYPE_INVALID_URL", "Not a well formed URL."),
    fields:
      fields.length > 25
        ? tooLong(25)
        : withTrouble(
            fields.map(({ name, value }) =>
              withTrouble({
                name: judgeText(name, 256, true),
                value: judgeText(value, 1024, true),
              }),
            ),
          ),
  });
}

/** Keeps only the parts with errors, by name or index, as Discord does. */
function withTrouble(parts: Record<string, object | null> | (object | null)[]): object | null {
  const wrong = Object.entries(parts).filter(([, trouble]) => trouble !== null);
  return wrong.length === 0 ? null : Object.fromEntries(wrong);
}
