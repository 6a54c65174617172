import { afterEach, beforeEach, expect, test } from "vitest";
import { serveBytes } from "../../net/testing/receivers.ts";
import type { Message } from "./channel.ts";
import { createSlackChannel } from "./slack.ts";
import { type SlackMessage, startFakeSlack } from "./testing/fake-slack.ts";
import {
  awfulLine,
  awfulMessage,
  awfulReason,
  backtickMessage,
  isCutOf,
  plainMessage,
} from "./testing/messages.ts";

let slack: Awaited<ReturnType<typeof startFakeSlack>>;
beforeEach(async () => {
  slack = await startFakeSlack();
});
afterEach(() => slack.close());

const calm = new AbortController().signal;
const send = (message: Message, signal = calm) =>
  createSlackChannel({ webhook: slack.webhook }).send(message, signal);
const failure = async (sending: Promise<string>) =>
  sending.then(
    () => expect.unreachable("the message went through"),
    (error: Error) => error,
  );
// The fake has parsed the messages that it accepted.
const arrived = () => slack.accepted as SlackMessage[];

test("sends a message with its facts, its reason and its link", async () => {
  expect(await send(plainMessage)).toBe("200 ok");
  expect(arrived()).toMatchObject([
    {
      text: "🔴 Backup failed: Shop on web-1",
      blocks: [
        { type: "header", text: { type: "plain_text", text: "🔴 Backup failed: Shop on web-1" } },
        {
          type: "rich_text",
          elements: [
            {
              type: "rich_text_section",
              elements: [
                { text: "Time: ", style: { bold: true } },
                { text: "2026-01-31 09:30 UTC" },
                { text: "\nTook: ", style: { bold: true } },
                { text: "2 min 4 s" },
              ],
            },
            { type: "rich_text_preformatted", elements: [{ text: plainMessage.reason }] },
            { type: "rich_text_section", elements: [{ type: "link", url: plainMessage.link }] },
          ],
        },
      ],
    },
  ]);
});

test("sends a message with only a title", async () => {
  expect(await send({ ...plainMessage, facts: [], reason: null, link: null })).toBe("200 ok");
});

test("sends 50 KB of markup, mentions and emoji within the limits and unchanged", async () => {
  expect(await send(awfulMessage)).toBe("200 ok");
  const [message] = arrived();
  const [header, body] = message?.blocks ?? [];
  expect(header?.text?.type).toBe("plain_text");
  expect(isCutOf(header?.text?.text.replace("ℹ️ ", "") ?? "", awfulLine)).toBe(true);
  const preformatted = body?.elements?.find(({ type }) => type === "rich_text_preformatted");
  expect(isCutOf(preformatted?.elements?.[0]?.text ?? "", awfulReason)).toBe(true);
  // No text has the type that Slack parses as markup.
  expect(JSON.stringify(message?.blocks)).not.toContain("mrkdwn");
  expect(message?.mrkdwn).toBe(false);
  expect(message?.text).toContain("&lt;!channel&gt; &lt;@U1&gt;");
  expect(message?.text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
  expect(await send(backtickMessage)).toBe("200 ok");
});

test.each([
  [400, "invalid_payload", true],
  [400, "invalid_blocks", true],
  [403, "invalid_token", true],
  [403, "action_prohibited", true],
  [404, "no_service", true],
  [410, "channel_is_archived", true],
  [408, "", false],
  [500, "rollup_error", false],
  [503, "<html>upstream</html>", false],
  [200, "<html>log in</html>", false],
  [403, "<html>log in</html>", false],
  [200, "fine", true],
  [301, "", true],
  [302, "", false],
])("%i %s is reported with Slack's message, permanent: %s", async (status, body, isPermanent) => {
  slack.answerNext({ status, body, headers: { location: "https://elsewhere.example/" } });
  expect(await failure(send(plainMessage))).toMatchObject({
    name: "ChannelError",
    message: expect.stringContaining(`Slack returned ${`${status} ${body}`.trim()}`),
    isPermanent,
    retryAfterMs: null,
  });
  expect(slack.requests).toHaveLength(1);
});

test("reports a deleted webhook with what to do", async () => {
  const webhook = slack.webhook.slice(0, -3);
  expect(await failure(createSlackChannel({ webhook }).send(plainMessage, calm))).toMatchObject({
    message:
      "Slack returned 404 no_service. Create a new webhook in Slack and use its URL for this channel.",
    isPermanent: true,
  });
});

test("returns Slack's Retry-After", async () => {
  slack.answerNext({ status: 429, headers: { "retry-after": "30" }, body: "rate_limited" });
  expect(await failure(send(plainMessage))).toMatchObject({
    isPermanent: false,
    retryAfterMs: 30_000,
  });
});

test("retries after a broken connection", async () => {
  slack.answerNext("reset");
  expect(await failure(send(plainMessage))).toMatchObject({
    name: "ChannelError",
    message: "Slack closed the connection.",
    isPermanent: false,
  });
});

test.each([
  ["200 OK", "2\r\nok\r\n", "200 ok"],
  ["200 OK", "1\r\no\r\n", /^Slack closed the connection during the response\.$/],
  ["404 Not Found", "4\r\nno_s\r\n", /^Slack returned 404 no_s\.$/],
])("judges a response that breaks off by what has arrived: %s, %j", async (line, body, outcome) => {
  const { url } = await serveBytes((socket) =>
    socket.end(`HTTP/1.1 ${line}\r\nTransfer-Encoding: chunked\r\n\r\n${body}`),
  );
  const sending = createSlackChannel({ webhook: url }).send(plainMessage, calm);
  const told = await sending.catch((error: Error) => error.message);
  if (typeof outcome === "string") expect(told).toBe(outcome);
  else {
    expect(told).toMatch(outcome);
    expect(await failure(sending)).toMatchObject({ isPermanent: line !== "200 OK" });
  }
});

test("an abort ends the request with its own reason", async () => {
  const abort = new AbortController();
  slack.answerNext("hang");
  const sending = send(plainMessage, abort.signal);
  await slack.nextRequest();
  abort.abort(new Error("the service stops"));
  await expect(sending).rejects.toThrow("the service stops");
  await expect(send(plainMessage, abort.signal)).rejects.toThrow("the service stops");
});
