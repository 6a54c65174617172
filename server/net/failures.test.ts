import { createServer as createHttpsServer, type ServerOptions } from "node:https";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { SendErrorKind } from "./send-error.ts";
import {
  expectFailure,
  listen,
  lookupIn,
  makeCertificate,
  makeSender,
  post,
  serve,
  serveBytes,
} from "./testing/receivers.ts";
import { soon } from "../testing/soon.ts";

describe("a failure", () => {
  const expectFails = (url: string, kind: SendErrorKind, words: RegExp, timeoutMs = 15_000) =>
    expectFailure(makeSender().send(post(url, { timeoutMs })), kind, words);

  test("is reported when nothing listens", async () => {
    const { port } = await serve(() => undefined);
    await expectFails(`http://127.0.0.3:${port}/`, "unreachable", /^127\.0\.0\.3:\d+ .*refused/);
  });

  test("is reported when there is no response in time", async () => {
    const { url, connections } = await serve(() => undefined);
    const sent = makeSender().send(post(url, { timeoutMs: 100 }));
    await expectFailure(sent, "timeout", /within 0\.1 s/);
    await expect(sent).rejects.toHaveProperty(
      "durationMs",
      expect.toSatisfy((ms: number) => ms > 50),
    );
    await soon(() => expect(connections[0]?.destroyed).toBe(true));
  });

  test("is reported when the response does not end in time", async () => {
    const { url } = await serve((_request, response) => {
      const timer = setInterval(() => response.write("."), 10);
      response.on("close", () => clearInterval(timer));
    });
    await expectFails(url, "timeout", /within 0\.2 s/, 200);
  });

  test("is reported when the name server does not respond in time", async () => {
    const lookup = () => new Promise<never>(() => undefined);
    const sent = makeSender({ lookup }).send(post("http://example.com", { timeoutMs: 50 }));
    await expectFailure(sent, "timeout", /^example\.com /);
  });

  test("is reported when the connection is reset", async () => {
    const { url } = await serveBytes((socket) => socket.resetAndDestroy());
    await expectFails(url, "broken", /closed the connection without a response/);
  });

  test("is reported when the connection closes without a response", async () => {
    const { url } = await serveBytes((socket) => socket.end());
    await expectFails(url, "broken", /closed the connection without a response/);
  });

  test("is reported when the response breaks off", async () => {
    const { url } = await serveBytes((socket) =>
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
    );
    await expectFails(url, "broken", /during the response/);
  });

  test.each([
    ["something else", "SSH-2.0-OpenSSH_10.2\r\n"],
    ["a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
  ])("is reported when the response is not HTTP: %s", async (_, bytes) => {
    const { url } = await serveBytes((socket) => socket.end(bytes));
    await expectFails(url, "broken", /not HTTP/);
  });

  test("is reported when the server switches protocols", async () => {
    const { url } = await serveBytes((socket) =>
      socket.write("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
    );
    await expectFails(url, "broken", /closed the connection/);
  });

  test("is reported when there are too many headers", async () => {
    const { url } = await serveBytes((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\n${"X-Long: 0123456789\r\n".repeat(2000)}\r\n`),
    );
    await expectFails(url, "broken", /more than 16 KiB of headers/);
  });

  test("is reported when a header cannot be sent, without connecting", async () => {
    const { url, connections } = await serve((_request, response) => response.end());
    for (const headers of [{ "X-A": "1\r\nX-B: 2" }, { "X A": "1" }])
      await expectFailure(makeSender().send(post(url, { headers })), "refused", /header/);
    expect(connections).toHaveLength(0);
  });

  test("contains only the host of the URL", async () => {
    const { port } = await serve(() => undefined);
    const sent = makeSender().send(post(`http://127.0.0.3:${port}/T0/secret?key=secret`));
    await expectFailure(sent, "unreachable", /^(?!.*secret)/);
  });

  test("is the caller's own reason when the caller aborts", async () => {
    const { url, connections } = await serve(() => undefined);
    const abort = new AbortController();
    const sent = makeSender().send(post(url, { signal: abort.signal }));
    await soon(() => expect(connections).toHaveLength(1));
    const reason = new Error("shutting down");
    abort.abort(reason);
    await expect(sent).rejects.toBe(reason);
    await expect(makeSender().send(post(url, { signal: abort.signal }))).rejects.toBe(reason);
    await soon(() => expect(connections[0]?.destroyed).toBe(true));
    expect(connections).toHaveLength(1);
  });
});

describe("over TLS", () => {
  let own: { key: string; cert: string };
  beforeAll(async () => {
    own = await makeCertificate("hook.example.com");
  });
  const lookup = lookupIn({
    "hook.example.com": ["127.0.0.1"],
    "other.example.com": ["127.0.0.1"],
  });
  async function serveTls(options: ServerOptions = {}) {
    const requests: string[] = [];
    const server = createHttpsServer({ ...own, ...options }, ({ url = "" }, response) => {
      requests.push(url);
      response.end("ok");
    });
    return { ...(await listen(server)), requests };
  }

  test("a self-signed certificate is not trusted", async () => {
    const { port, requests } = await serveTls();
    const sent = makeSender({ lookup }).send(post(`https://hook.example.com:${port}/`));
    await expectFailure(sent, "tls", /self-signed.*NODE_EXTRA_CA_CERTS/);
    expect(requests).toEqual([]);
  });

  test("a trusted certificate is accepted, for its own name only", async () => {
    const before = getCACertificates("default");
    setDefaultCACertificates([own.cert]);
    onTestFinished(() => setDefaultCACertificates(before));
    const { port, requests, connections } = await serveTls();
    const sender = makeSender({ lookup });
    for (let count = 0; count < 2; count++)
      expect(await sender.send(post(`https://hook.example.com:${port}/`))).toMatchObject({
        status: 200,
        address: "127.0.0.1",
      });
    expect(connections).toHaveLength(1);
    const sent = sender.send(post(`https://other.example.com:${port}/`));
    await expectFailure(sent, "tls", /another host name/);
    expect(requests).toHaveLength(2);
  });

  test("a host name with a trailing dot is requested without it", async () => {
    const names: string[] = [];
    const { port } = await serveTls({
      SNICallback(name, done) {
        names.push(name);
        done(null);
      },
    });
    const sender = makeSender({ lookup: lookupIn({ "hook.example.com.": ["127.0.0.1"] }) });
    await expectFailure(
      sender.send(post(`https://hook.example.com.:${port}/`)),
      "tls",
      /self-signed/,
    );
    expect(names).toEqual(["hook.example.com"]);
  });

  test.each<[string, ServerOptions, RegExp]>([
    [
      "of an old version",
      { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" },
      /speaks no version of TLS that Quarterdeck accepts, which is 1\.2 or newer\.$/,
    ],
    [
      "without a cipher in common",
      { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0" },
      /refused the TLS handshake: there is no cipher in common, or it wants a client certificate\.$/,
    ],
    [
      "that asks who the client is",
      { requestCert: true, rejectUnauthorized: true, maxVersion: "TLSv1.2" },
      /refused the TLS handshake: .*, or it wants a client certificate\.$/,
    ],
  ])("reports a TLS server %s", async (_, options, words) => {
    const before = getCACertificates("default");
    setDefaultCACertificates([own.cert]);
    onTestFinished(() => setDefaultCACertificates(before));
    const { port } = await serveTls(options);
    const sent = makeSender({ lookup }).send(post(`https://hook.example.com:${port}/`));
    await expectFailure(sent, "tls", words);
  });

  test("reports a server that does not speak TLS", async () => {
    const { port } = await serveBytes((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const sent = makeSender({ lookup }).send(post(`https://hook.example.com:${port}/`));
    await expectFailure(sent, "tls", /doesn't speak TLS\. Check whether .* http:\/\/\.$/);
  });
});
