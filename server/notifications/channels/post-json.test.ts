import { createServer as createHttpsServer } from "node:https";
import { inspect } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listen, makeCertificate, serveBytes } from "../../net/testing/receivers.ts";
import { postJson, readWebhook, refusal } from "./post-json.ts";
import { startFakeSlack } from "./testing/fake-slack.ts";

let peer: Awaited<ReturnType<typeof startFakeSlack>>;
beforeEach(async () => {
  peer = await startFakeSlack();
});
afterEach(() => peer.close());

const secrets = /T0AB12CD3|B0EF45GH6|xYzSecret/;
const { signal } = new AbortController();
const post = (webhook = peer.webhook, timeoutMs = 60_000) =>
  postJson(readWebhook(webhook, "Slack"), {}, { provider: "Slack", signal, timeoutMs });
const failure = async (webhook?: string, timeoutMs?: number) => {
  const error = await post(webhook, timeoutMs).then(
    () => expect.unreachable("there was an answer"),
    (error: unknown) => error,
  );
  // All that a log could contain of the error.
  expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(secrets);
  return error;
};

const late = { name: "ChannelError", message: "Slack timed out.", isPermanent: false };

test("does not wait for a response that does not come", async () => {
  peer.answerNext("hang");
  expect(await failure(peer.webhook, 100)).toMatchObject(late);
});

test("does not wait for a response that does not end, and returns what has arrived", async () => {
  peer.answerNext("stall");
  // Long enough for the beginning of the response on a busy machine.
  const { status, text, broken } = await post(peer.webhook, 3000);
  expect({ status, text }).toEqual({ status: 200, text: "o" });
  expect(broken).toMatchObject(late);
});

test.each([
  [
    "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok",
    "Slack returned a response that is damaged.",
  ],
  ["Content-Length: 20\r\n\r\nok", "Slack closed the connection during the response."],
])("reports why a response is incomplete: %.16s", async (bytes, message) => {
  const { url } = await serveBytes((socket) => socket.end(`HTTP/1.1 200 OK\r\n${bytes}`));
  const { broken } = await post(url);
  expect(broken).toMatchObject({ name: "ChannelError", message, isPermanent: false });
});

test("reports an unreachable peer without the address", async () => {
  await peer.close();
  expect(await failure()).toMatchObject({
    message: "Slack refused the connection.",
    isPermanent: false,
  });
  peer = await startFakeSlack();
});

test("reports a name that cannot be resolved", async () => {
  expect(await failure("http://quarterdeck.invalid/services/xYzSecret")).toMatchObject({
    message: expect.stringMatching(/^Slack could not be resolved/),
    isPermanent: false,
  });
});

test("reports an untrusted certificate with what to do", async () => {
  const server = createHttpsServer(await makeCertificate("hooks.example.com"));
  const { port } = await listen(server);
  expect(await failure(`https://127.0.0.1:${port}/services/xYzSecret`)).toMatchObject({
    message: "Slack has a self-signed certificate. Add its authority with NODE_EXTRA_CA_CERTS.",
    isPermanent: false,
  });
});

test.each([
  ["SSH-2.0-OpenSSH_10.2\r\n", "Slack returned a response that is not HTTP."],
  [
    `HTTP/1.1 200 OK\r\n${"X-Long: 0123456789\r\n".repeat(2000)}\r\n`,
    "Slack returned too many headers.",
  ],
])("reports an unreadable response: %.17s", async (bytes, message) => {
  const { url } = await serveBytes((socket) => socket.end(bytes));
  expect(await failure(url)).toMatchObject({ message, isPermanent: false });
});

test("reports a peer with an outdated TLS version", async () => {
  const certificate = await makeCertificate("hooks.example.com");
  const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" } as const;
  const { port } = await listen(createHttpsServer({ ...certificate, ...old }));
  expect(await failure(`https://127.0.0.1:${port}/services/xYzSecret`)).toMatchObject({
    message: "Slack speaks no version of TLS that Quarterdeck accepts, which is 1.2 or newer.",
    isPermanent: false,
  });
});

test("reports a peer that does not speak TLS", async () => {
  const { port } = await serveBytes((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  expect(await failure(`https://127.0.0.1:${port}/services/xYzSecret`)).toMatchObject({
    message: "Slack doesn't speak TLS. Check whether the URL should begin with http://.",
    isPermanent: false,
  });
});

test("reports a URL that fetch refuses without the address", async () => {
  // `fetch` refuses the port of SMTP.
  expect(await failure("http://127.0.0.1:25/services/xYzSecretOfSlack9")).toMatchObject({
    message: "Slack cannot be reached.",
  });
  // For a URL with a login, the error of `fetch` contains the whole URL.
  const url = new URL("http://user:word@127.0.0.1/services/xYzSecretOfSlack9");
  const options = { provider: "Slack", signal, timeoutMs: 60_000 };
  const error = await postJson(url, {}, options).catch((error: unknown) => error);
  expect(error).toMatchObject({ message: "Slack cannot be reached." });
  expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(secrets);
});

test.each(["xYzSecret", "ftp://a.example/xYzSecret", "https://u:xYzSecret@a.example/", ""])(
  "“%s” is not a webhook",
  (webhook) => {
    let error: unknown;
    try {
      readWebhook(webhook, "Slack");
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ name: "ChannelError", isPermanent: true });
    expect(inspect(error)).not.toMatch(secrets);
  },
);

test("removes the address from a response that repeats it", async () => {
  peer.answerNext({ status: 404, body: `Cannot POST ${new URL(peer.webhook).pathname}, services` });
  const answer = await post();
  expect(answer).toMatchObject({ status: 404, text: "Cannot POST …, services" });
  peer.answerNext({ status: 404, body: "no hook xYzSecretOfSlack9" });
  expect(refusal("Slack", await post(), "no hook …").message).not.toMatch(secrets);
});

test("reads only the first 4 KiB of a response", async () => {
  peer.answerNext({ status: 500, body: "x".repeat(10_000_000) });
  expect((await post()).text).toBe("x".repeat(4096));
});

test("does not follow a redirect, which would reveal the secret", async () => {
  peer.answerNext({ status: 307, headers: { location: peer.webhook } });
  expect((await post()).status).toBe(307);
  expect(peer.requests).toHaveLength(1);
});
