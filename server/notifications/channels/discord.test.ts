import { afterEach, beforeEach, expect, test } from "vitest";
import { serveBytes } from "../../net/testing/receivers.ts";
import type { Message } from "./channel.ts";
import { createDiscordChannel } from "./discord.ts";
import { type DiscordMessage, startFakeDiscord } from "./testing/fake-discord.ts";
import {
  awfulLine,
  awfulMessage,
  awfulReason,
  backtickMessage,
  isCutOf,
  plainMessage,
} from "./testing/messages.ts";

let discord: Awaited<ReturnType<typeof startFakeDiscord>>;
beforeEach(async () => {
  discord = await startFakeDiscord();
});
afterEach(() => discord.close());

const calm = new AbortController().signal;
const send = (message: Message, signal = calm, webhook = discord.webhook) =>
  createDiscordChannel({ webhook }).send(message, signal);
const failure = async (sending: Promise<string>) =>
  sending.then(
    () => expect.unreachable("the message went through"),
    (error: Error) => error,
  );
const embed = () => {
  // The fake has parsed the message that it accepted.
  const message = discord.accepted.at(-1) as DiscordMessage;
  return message.embeds?.[0];
};

test("sends a message with its facts, its reason and its link", async () => {
  expect(await send(plainMessage)).toBe("200 message 1234567890");
  expect(discord.accepted).toEqual([
    {
      embeds: [
        {
          title: "Backup failed\\: Shop on web-1",
          description:
            "```\npg_dump: error: connection to server failed\nis the server running?\n```\n<http://localhost:4280/backups/12>",
          color: 0xdc2626,
          fields: [
            { name: "Time", value: "2026-01-31 09\\:30 UTC", inline: true },
            { name: "Took", value: "2 min 4 s", inline: true },
          ],
        },
      ],
      allowed_mentions: { parse: [] },
    },
  ]);
});

const json = "Content-Type: application/json";
test.each([
  ["in the middle of it", `${json}\r\nContent-Length: 500\r\n\r\n{"id":"12`],
  ["before it", `${json}; charset=utf-8\r\nContent-Length: 500\r\n\r\n`],
])(
  "does not send a message again that Discord accepted with a response that breaks off %s",
  async (_, bytes) => {
    const { url } = await serveBytes((socket) => socket.end(`HTTP/1.1 200 OK\r\n${bytes}`));
    expect(await send(plainMessage, calm, url)).toBe("200 ok, and the response broke off");
  },
);

test.each([
  ["a page", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\n"],
  ["JSON that is a page", `HTTP/1.1 200 OK\r\n${json}\r\nContent-Length: 500\r\n\r\n<html>`],
  ["nothing", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"],
])(
  "a response that breaks off and may be from another server is no delivery: %s",
  async (_, bytes) => {
    const { url } = await serveBytes((socket) => socket.end(bytes));
    expect(await failure(send(plainMessage, calm, url))).toMatchObject({
      message: "Discord closed the connection during the response.",
      isPermanent: false,
    });
  },
);

test("sends a message with only a title, colored by its outcome", async () => {
  const bare = { ...plainMessage, facts: [], reason: null, link: null };
  await send(bare);
  const bad = embed()?.color;
  await send({ ...bare, outcome: "good" });
  expect(embed()?.color).not.toBe(bad);
});

test("keeps the webhook's own parameters, and requests the created message", async () => {
  await send(plainMessage, calm, `${discord.webhook}?thread_id=42`);
  expect(discord.requests[0]).toMatch(/\?thread_id=42&wait=true$/);
  discord.answerNext({ status: 204 });
  expect(await send(plainMessage)).toBe("204 no content");
});

test("sends 50 KB of markup, mentions and emoji within the limits and unchanged", async () => {
  expect(await send(awfulMessage)).toMatch(/^200 /);
  const { title = "", description = "", fields = [] } = embed() ?? {};
  const [, block = "", link] = /^```\n([^]*)\n```\n<(.*)>$/.exec(description) ?? [];
  // Nothing in the code block closes it.
  expect(block).not.toContain("``");
  expect(isCutOf(block.replaceAll("\u200b", ""), awfulReason)).toBe(true);
  expect(link).toBe(awfulMessage.link);
  expect(fields).toHaveLength(10);
  for (const text of [title, ...fields.flatMap(({ name = "", value = "" }) => [name, value])]) {
    // Every special character is escaped, and no escape sequence is split.
    expect(text.replace(/\\[^A-Za-z0-9\s]/g, "")).not.toMatch(
      /[\\*_~`|<>[\]():@#]|^\s*([-+]|\d+\.)/m,
    );
  }
  expect(isCutOf(title.replace(/\\([^A-Za-z0-9\s])/g, "$1"), awfulLine)).toBe(true);
  expect(isCutOf((fields[0]?.value ?? "").replace(/\\([^A-Za-z0-9\s])/g, "$1"), awfulReason)).toBe(
    true,
  );
  expect(await send(backtickMessage)).toMatch(/^200 /);
});

const form = {
  message: "Invalid Form Body",
  code: 50035,
  errors: { embeds: { 0: { title: { _errors: [{ code: "X", message: "Too long." }] } } } },
};

test.each([
  [
    { status: 400, body: form },
    /^Discord returned 400 Invalid Form Body; embeds\.0\.title: Too long\.$/,
  ],
  [{ status: 400, body: { embeds: ["0"] } }, /^Discord returned 400 {"embeds":\["0"\]}\.$/],
  [
    { status: 403, body: { message: "Missing Access" } },
    /403 Missing Access\. Create a new webhook/,
  ],
  [{ status: 301, headers: { location: "https://elsewhere.example/" } }, /301 \(redirect\)\.$/],
])("%j is permanent, with Discord's message", async (answer, words) => {
  discord.answerNext(answer);
  expect(await failure(send(plainMessage))).toMatchObject({
    name: "ChannelError",
    message: expect.stringMatching(words),
    isPermanent: true,
    retryAfterMs: null,
  });
});

test("a deleted webhook, or one with a wrong token, is reported with what to do", async () => {
  const wrongToken = discord.webhook.slice(0, -1);
  expect(await failure(send(plainMessage, calm, wrongToken))).toMatchObject({
    message: expect.stringMatching(/401 Invalid Webhook Token\. Create a new webhook/),
    isPermanent: true,
  });
  const wrongId = discord.webhook.replace("1122", "2211");
  expect(await failure(send(plainMessage, calm, wrongId))).toMatchObject({
    message: expect.stringMatching(/404 Unknown Webhook\. Create a new webhook/),
    isPermanent: true,
  });
});

test.each([
  [{ body: { message: "You are being rate limited.", retry_after: 1.25, global: false } }, 1250],
  [{ body: { retry_after: 0.3 }, headers: { "retry-after": "1" } }, 300],
  [{ body: "<html>", headers: { "retry-after": "60" } }, 60_000],
  [{ body: "<html>" }, null],
])("returns Discord's Retry-After of %j as %s ms", async (answer, retryAfterMs) => {
  discord.answerNext({ status: 429, ...answer });
  expect(await failure(send(plainMessage))).toMatchObject({ isPermanent: false, retryAfterMs });
});

test("retries after an error on Discord's side", async () => {
  discord.answerNext({ status: 502, body: "<html>bad gateway</html>" });
  expect(await failure(send(plainMessage))).toMatchObject({ isPermanent: false });
});

test.each([200, 403])("retries after a page with %i, as of a proxy", async (status) => {
  discord.answerNext({ status, body: "<html>Log in to go on</html>" });
  expect(await failure(send(plainMessage))).toMatchObject({
    message: `Discord returned ${status} <html>Log in to go on</html>. A proxy may have answered instead.`,
    isPermanent: false,
  });
});

test("an abort ends the request with its own reason", async () => {
  const abort = new AbortController();
  discord.answerNext("hang");
  const sending = send(plainMessage, abort.signal);
  await discord.nextRequest();
  abort.abort(new Error("the service stops"));
  await expect(sending).rejects.toThrow("the service stops");
});
