import { createServer as createTcpServer } from "node:net";
import { describe, expect, test } from "vitest";
import { expectFailure, listen, makeSender, post, serve, serveBytes } from "./testing/receivers.ts";
import { soon } from "../testing/soon.ts";

describe("a response", () => {
  test("is returned with its status, headers and body; the request arrives complete", async () => {
    const receiver = await serve(({ method, url, headers }, response) => {
      response.setHeader("X-Seen", `${method} ${url} ${headers["content-type"]}`);
      response.setHeader("X-Encoding", String(headers["accept-encoding"]));
      response.setHeader("Set-Cookie", ["a=1", "b=2"]);
      response.writeHead(201).end("Thanks");
    });
    expect(await makeSender().send(post(receiver.url))).toMatchObject({
      status: 201,
      headers: {
        "x-seen": "POST /hook application/json",
        "x-encoding": "identity",
        "set-cookie": "a=1, b=2",
      },
      body: "Thanks",
      isBodyCut: false,
      address: "127.0.0.1",
      durationMs: expect.any(Number),
    });
  });

  test.each(["text with ümlauts", Buffer.from([0, 1, 255])])(
    "a request body arrives unchanged",
    async (body) => {
      let seen: Buffer | undefined;
      const receiver = await serve((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          seen = Buffer.concat(chunks);
          response.end();
        });
      });
      // A wrong length of the caller is ignored.
      await makeSender().send(post(receiver.url, { body, headers: { "Content-Length": "1" } }));
      expect(seen?.equals(Buffer.from(body))).toBe(true);
    },
  );

  test.each([204, 404, 500, 503])("%d is a response, not a failure", async (status) => {
    const receiver = await serve((_request, response) => response.writeHead(status).end());
    expect((await makeSender().send(post(receiver.url))).status).toBe(status);
  });

  test.each([
    ["a 204 that has a body", "HTTP/1.1 204 No Content\r\n\r\nOK", 204, ""],
    [
      "more than was announced",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK and more",
      200,
      "OK",
    ],
  ])(
    "with %s has the outcome of its status, and its connection is closed",
    async (_, bytes, status, body) => {
      const receiver = await serveBytes((socket) => socket.write(bytes));
      const sender = makeSender();
      for (let count = 0; count < 2; count++)
        expect(await sender.send(post(receiver.url))).toMatchObject({ status, body });
      expect(receiver.connections).toHaveLength(2);
      await soon(() => expect(receiver.connections.every(({ destroyed }) => destroyed)).toBe(true));
    },
  );

  test("with a redirect is not followed", async () => {
    const secret = await serve((_request, response) => response.end("secret"));
    const receiver = await serve((_request, response) =>
      response.writeHead(307, { Location: secret.url }).end(),
    );
    const answer = await makeSender().send(post(receiver.url));
    expect(answer).toMatchObject({ status: 307, body: "", headers: { location: secret.url } });
    expect(secret.connections).toHaveLength(0);
  });

  test("of 100 MB is truncated, and its connection closed", async () => {
    let written = 0;
    const piece = Buffer.alloc(64 * 1024, "x");
    const receiver = await serve((_request, response) => {
      response.writeHead(200, { "Content-Length": 100_000_000 });
      const write = () => {
        while (!response.destroyed && written < 100_000_000) {
          written += piece.length;
          if (!response.write(piece)) return;
        }
      };
      response.on("drain", write);
      write();
    });
    const answer = await makeSender().send(post(receiver.url));
    expect(answer).toMatchObject({ status: 200, body: "x".repeat(4096), isBodyCut: true });
    await soon(() => expect(receiver.connections[0]?.destroyed).toBe(true));
    expect(written).toBeLessThan(50_000_000);
  });

  test("is truncated between characters, and invalid UTF-8 is replaced", async () => {
    const receiver = await serve((_request, response) => {
      response.end(Buffer.concat([Buffer.from([65, 0, 255]), Buffer.from("ü".repeat(10))]));
    });
    const sender = makeSender();
    expect(await sender.send(post(receiver.url, { keepBytes: 6 }))).toMatchObject({
      body: "A\0\uFFFDü",
      isBodyCut: true,
    });
    expect(await sender.send(post(receiver.url, { keepBytes: 23 }))).toMatchObject({
      body: `A\0\uFFFD${"ü".repeat(10)}`,
      isBodyCut: false,
    });
  });

  test("is returned with at most 8 KiB of headers", async () => {
    const receiver = await serveBytes((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nA: 1\r\nLong: ${"z".repeat(9000)}\r\nconstructor: 2\r\n\r\n`),
    );
    const { headers } = await makeSender().send(post(receiver.url));
    expect(Object.entries(headers)).toEqual([
      ["a", "1"],
      ["constructor", "2"],
    ]);
  });
});

describe("connections", () => {
  test("are reused for the next request", async () => {
    const receiver = await serve((_request, response) => response.end("ok"));
    const sender = makeSender();
    for (let count = 0; count < 5; count++) await sender.send(post(receiver.url));
    expect(receiver.connections).toHaveLength(1);
  });

  test("that close just when they are reused cause no failure", async () => {
    const used = new Set<unknown>();
    const receiver = await serve(({ socket }, response) => {
      if (used.has(socket)) socket.destroy();
      used.add(socket);
      response.end("ok");
    });
    const sender = makeSender();
    await sender.send(post(receiver.url));
    expect((await sender.send(post(receiver.url))).status).toBe(200);
    expect(receiver.connections).toHaveLength(2);
  });

  test("that receive more of the last response just when they are reused cause no failure", async () => {
    const used = new Set<unknown>();
    const receiver = await listen(
      createTcpServer((socket) => {
        socket.on("data", () => {
          const rest = used.has(socket) ? '{"ok":true}' : "";
          used.add(socket);
          socket.write(`${rest}HTTP/1.1 204 No Content\r\n\r\n`);
        });
      }),
    );
    const sender = makeSender();
    for (let count = 0; count < 2; count++)
      expect(await sender.send(post(receiver.url))).toMatchObject({ status: 204 });
    expect(receiver.connections).toHaveLength(2);
  });

  test.each([
    ["breaks off", "Content-Length: 100\r\n\r\nhalf", /during the response/],
    ["is no HTTP", "Transfer-Encoding: chunked\r\n\r\nhalf", /not HTTP/],
  ])("on which a response %s are not retried", async (_what, rest, words) => {
    let count = 0;
    const receiver = await serve(({ socket }, response) => {
      count += 1;
      if (count === 1) response.end("ok");
      else socket.write(`HTTP/1.1 200 OK\r\n${rest}`, () => socket.resetAndDestroy());
    });
    const sender = makeSender();
    await sender.send(post(receiver.url));
    await expectFailure(sender.send(post(receiver.url)), "broken", words);
    expect(count).toBe(2);
  });

  test("are closed with the sender", async () => {
    const receiver = await serve((_request, response) => response.end("ok"));
    const sender = makeSender();
    await sender.send(post(receiver.url));
    sender.close();
    await soon(() => expect(receiver.connections[0]?.destroyed).toBe(true));
    await expectFailure(sender.send(post(receiver.url)), "broken", /stopping/);
  });

  test("are not reopened for pending requests when the sender closes", async () => {
    const { url, connections } = await serve((request, response) => {
      if (request.headers["x-first"] === "yes") response.end("ok");
      else sender.close();
    });
    const sender = makeSender();
    await sender.send(post(url, { headers: { "X-First": "yes" } }));
    await expectFailure(sender.send(post(url)), "broken", /stopping/);
    expect(connections).toHaveLength(1);
  });
});

test("refuses a URL with port 0, on which nothing can listen, when it is saved and when it is requested", async () => {
  const sender = makeSender();
  const url = "http://127.0.0.1:0/hook";
  expect(await sender.refusalOf(url)).toMatch(/^The URL must not name port 0: .*\.$/);
  await expectFailure(sender.send(post(url)), "refused", /port 0/);
});
