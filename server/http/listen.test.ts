// Tests that a client that is still sending when it is refused gets the whole response, and no reset connection, and that one that
// sends no request is disconnected.
import { once } from "node:events";
import type { Server } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { portOf } from "../testing/port-of.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { listen } from "./listen.ts";

let service: TestService;
let server: Server;
beforeAll(async () => {
  service = await createTestService();
  server = await listen(service.app.fetch, 0, "127.0.0.1");
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await service.close();
});

const mebibyte = 1024 * 1024;
const chunked = "Transfer-Encoding: chunked";
const closing = "Connection: close";

const end = Buffer.from("\r\n");

/** Yields pieces of a body, with chunk headers if `isChunked`. */
function* pieces(sizeBytes: number, isChunked: boolean) {
  const piece = Buffer.alloc(mebibyte / 4, " ");
  for (let sent = 0; sent < sizeBytes; sent += piece.length) {
    const part = piece.subarray(0, sizeBytes - sent);
    yield isChunked
      ? Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, end])
      : part;
  }
  if (isChunked) yield Buffer.from("0\r\n\r\n");
}
type Sent = { headers: string[]; sizeBytes: number; pauseMs?: number; next?: string };

/** Sends most of the body only after the response. @returns all that arrived until the service closed the connection */
async function send({ headers, sizeBytes, pauseMs = 0, next = "" }: Sent): Promise<string> {
  const socket = connect({ port: portOf(server), host: "127.0.0.1", allowHalfOpen: true });
  const failed = new Promise<never>((_resolve, reject) => socket.on("error", reject));
  const answered = new Promise((resolve) => socket.once("data", resolve));
  let got = "";
  socket.on("data", (data) => (got += data.toString()));
  const ended = new Promise((resolve) => socket.once("end", resolve));
  const isChunked = headers.includes(chunked);
  const lines = [
    "POST /api/tokens HTTP/1.1",
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    ...headers,
    ...(isChunked ? [] : [`Content-Length: ${sizeBytes}`]),
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  let sentBytes = 0;
  for (const piece of pieces(sizeBytes, isChunked)) {
    // Without a Content-Length, the body is too large only after so many bytes.
    if (!isChunked || sentBytes > 1.2 * mebibyte) await Promise.race([answered, failed]);
    await Promise.race([new Promise((resolve) => socket.write(piece, resolve)), failed]);
    sentBytes += piece.length;
    await sleep(pauseMs);
  }
  socket.end(next);
  await Promise.race([ended, failed]);
  return got;
}

const login = () => `Authorization: Bearer ${service.token}`;
const tooLarge = /^HTTP\/1\.1 413 .*must not be larger than 1 MiB/s;

test.each([mebibyte + 1, 2 * mebibyte, 20 * mebibyte])(
  "refuses %i bytes with a message, whether the connection stays open or not",
  async (sizeBytes) => {
    for (const more of [[closing], [], [chunked, closing], [chunked]])
      expect(await send({ headers: [login(), ...more], sizeBytes }), more.join()).toMatch(tooLarge);
  },
);

test("refuses an invalid login with a message as well", async () => {
  for (const more of [[closing], []])
    expect(await send({ headers: more, sizeBytes: 2 * mebibyte })).toMatch(/^HTTP\/1\.1 401 /);
});

test("waits for a slow client", async () => {
  for (const more of [[closing], []])
    expect(
      await send({ headers: [login(), ...more], sizeBytes: 2 * mebibyte, pauseMs: 150 }),
    ).toMatch(tooLarge);
});

test("a connection on which a body was too large serves the next request", async () => {
  const next = ["GET /healthz HTTP/1.1", "Host: 127.0.0.1", closing, "", ""].join("\r\n");
  for (const more of [[], [chunked]])
    expect(await send({ headers: [login(), ...more], sizeBytes: 2 * mebibyte, next })).toMatch(
      /^HTTP\/1\.1 413 .*HTTP\/1\.1 200 /s,
    );
});

test("a closing server closes each connection after its pending response", async () => {
  const begun = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const closing = await listen(
    async () => {
      begun.resolve();
      await answered.promise;
      return new Response("done");
    },
    0,
    "127.0.0.1",
  );
  // Otherwise the server would close an idle connection by itself.
  closing.keepAliveTimeout = 0;
  const request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  const open = (): Promise<string> =>
    new Promise((resolve, reject) => {
      let got = "";
      connect({ port: portOf(closing), host: "127.0.0.1" })
        .on("data", (data) => (got += data.toString()))
        .on("error", reject)
        .on("close", () => resolve(got))
        .write(request);
    });
  const first = open();
  await begun.promise;
  const closed = new Promise((resolve) => closing.close(resolve));
  answered.resolve();
  expect(await first).toMatch(/^HTTP\/1.1 200 [^]*done/);
  await closed;
});

test("a closing server serves one more request on a connection that is still open", async () => {
  const held = Promise.withResolvers<void>();
  const closing = await listen(
    async (request) => {
      if (request.url.endsWith("/held")) await held.promise;
      return new Response("done");
    },
    0,
    "127.0.0.1",
  );
  closing.keepAliveTimeout = 0;
  const line = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
  const socket = connect({ port: portOf(closing), host: "127.0.0.1" });
  let got = "";
  socket.on("data", (data) => (got += data.toString()));
  const ended = new Promise((resolve) => socket.once("close", resolve));
  const asked = () => new Promise((resolve) => closing.once("request", resolve));
  const first = asked();
  socket.write(line("/held"));
  await first;
  closing.close();
  // The first request is still pending, which keeps the connection open.
  const second = asked();
  socket.write(line("/next"));
  await second;
  held.resolve();
  await ended;
  expect(got.match(/HTTP\/1.1 200/g)).toHaveLength(2);
  expect(got.toLowerCase()).toContain("connection: close");
});

test("a client that stays connected after a refused CONNECT does not keep the server from closing", async () => {
  const closing = await listen(async () => new Response("done"), 0, "127.0.0.1");
  const socket = connect({ port: portOf(closing), host: "127.0.0.1", allowHalfOpen: true });
  try {
    let got = "";
    socket.on("data", (data) => (got += data.toString()));
    const ended = new Promise((resolve) => socket.once("end", resolve));
    socket.write("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n");
    await ended;
    expect(got).toMatch(/^HTTP\/1.1 405 .*CONNECT/s);
    const closed = new Promise((resolve) => closing.close(resolve));
    closing.closeAllConnections();
    await closed;
  } finally {
    socket.destroy();
  }
});

test("closes a connection whose headers do not arrive in time, and none that sends a body slowly", async () => {
  const read = Promise.withResolvers<void>();
  const hasty = await listen(
    async (request) => {
      read.resolve();
      return new Response(await request.text());
    },
    0,
    "127.0.0.1",
    4000,
  );
  try {
    const open = (first: string) => {
      let got = "";
      const socket = connect({ port: portOf(hasty), host: "127.0.0.1" });
      socket.on("data", (data) => (got += data.toString()));
      const ended = once(socket, "close").then(() => got);
      socket.write(first);
      return { socket, ended };
    };
    const head = ["POST / HTTP/1.1", "Host: 127.0.0.1", "Content-Length: 4", closing, "", ""];
    const slow = open(`${head.join("\r\n")}slo`);
    await read.promise;
    for (const first of ["GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-", ""])
      expect(await open(first).ended, first).toMatch(/^HTTP\/1\.1 408 .*did not arrive in time/s);
    slow.socket.write("w");
    expect(await slow.ended).toMatch(/^HTTP\/1\.1 200 .*slow$/s);
  } finally {
    hasty.closeAllConnections();
    hasty.close();
  }
});
