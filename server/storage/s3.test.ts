import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { listen, makeCertificate, serve } from "../net/testing/receivers.ts";
import { cutIntoParts, partBytes, partBytesAt } from "./s3-parts.ts";
import { createS3Storage } from "./s3.ts";
import { startS3, type Gate } from "./testing/s3.ts";
import { soon } from "../testing/soon.ts";

let folder: string;
let s3: Gate;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-s3-"));
  s3 = await startS3(folder);
});
afterAll(async () => {
  await s3.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => s3.rule(() => "pass"));

const open = (change = {}) => createS3Storage({ ...s3.options, ...change });
const whole = { signal: new AbortController().signal };
const chunked = (content: Buffer, chunkBytes = 100_000) =>
  Readable.from(
    (function* () {
      for (let at = 0; at < content.length; at += chunkBytes)
        yield content.subarray(at, at + chunkBytes);
    })(),
    { objectMode: false },
  );
const objects = async () =>
  (await readdir(join(folder, "copies"), { recursive: true })).filter((name) =>
    name.endsWith("._S3rver_object"),
  );

/** Returns an error in the format of S3. */
const codeOf = (code: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>No.</Message></Error>`;

describe("a stored object", () => {
  test.each([
    ["nothing", 0],
    ["little", 300],
    ["a part exactly", 8 * 1024 * 1024],
    ["several parts", 17_000_000],
  ])("(%s) is read back unchanged, and removed", async (_, bytes) => {
    const storage = open();
    const content = randomBytes(bytes);
    const key = `shop/1/${bytes}.zst`;
    expect(await storage.put(key, chunked(content), whole)).toBe(bytes);
    expect(await storage.size(key)).toBe(bytes);
    const back = await buffer(await storage.get(key, whole));
    expect(back.equals(content)).toBe(true);
    // The service confirmed the checksums of every part to the client that stored it; another client does not know that.
    expect(await storage.readBack(key, whole)).toEqual({ kind: "checksums" });
    const again = await open().readBack(key, whole);
    if (again.kind !== "read") throw new Error("nothing was put by this one");
    expect((await buffer(again.content)).equals(content)).toBe(true);
    await storage.remove(key);
    expect(await storage.size(key)).toBeNull();
    await storage.remove(key);
  });

  test("is split into parts of limited memory, whose number S3 accepts", async () => {
    const sizes: number[] = [];
    for await (const part of cutIntoParts(chunked(randomBytes(20_000_000), 77_777)))
      sizes.push(part.length);
    expect(sizes).toEqual([8_388_608, 8_388_608, 20_000_000 - 2 * 8_388_608]);
    let total = 0;
    for (let number = 1; number <= 10_000; number++) total += partBytes(number);
    expect(total).toBeGreaterThan(5 * 1024 ** 4);
    expect(partBytes(1000)).toBe(8_388_608);
  });
});

test("has parts of equal size for Cloudflare's service, which requires that", async () => {
  const bytesOf = partBytesAt("https://0123456789abcdef.eu.r2.cloudflarestorage.com");
  expect(new Set([1, 1000, 1001, 10_000].map(bytesOf)).size).toBe(1);
  expect(10_000 * bytesOf(1)).toBeGreaterThan(600 * 1024 ** 3);
  const sizes: number[] = [];
  const content = chunked(Buffer.alloc(2 * bytesOf(1) + 1), 7_777_777);
  for await (const part of cutIntoParts(content, bytesOf)) sizes.push(part.length);
  expect(sizes).toEqual([bytesOf(1), bytesOf(2), 1]);
  for (const endpoint of [null, "https://s3.example.com", "http://127.0.0.1:9000"])
    expect(partBytesAt(endpoint)(1001)).toBe(2 * partBytesAt(endpoint)(1000));
});

describe("a download", () => {
  const content = randomBytes(24_000_000);
  const key = "shop/1/read.zst";
  const gets = (asked: string[]) => asked.filter((one) => one.startsWith("GET")).length;
  beforeAll(() => open().put(key, chunked(content), whole));

  test("is complete although its reader pauses until the connection is closed", async () => {
    const stream = await open({ idleMs: 2000 }).get(key, whole);
    await once(stream, "readable");
    await soon(() => expect(s3.givenUp()).not.toEqual([]));
    expect((await buffer(stream)).equals(content)).toBe(true);
  });

  test("is complete although the reader starts after the connection was closed", async () => {
    const stream = await open({ idleMs: 2000 }).get(key, whole);
    await soon(() => expect(s3.givenUp()).not.toEqual([]));
    expect((await buffer(stream)).equals(content)).toBe(true);
  });

  test("is complete although connections break, and a missing end is reported", async () => {
    let cuts = 3;
    s3.rule((asked) => (asked.startsWith("GET") && cuts-- > 0 ? "cut" : "pass"));
    expect((await buffer(await open().get(key, whole))).equals(content)).toBe(true);
    expect(gets(s3.asked())).toBe(4);
    let isFirst = true;
    s3.rule(() => (isFirst ? "cut" : 500));
    const stream = await open().get(key, whole);
    isFirst = false;
    await expect(buffer(stream)).rejects.toMatchObject({
      name: "StorageError",
      message: expect.stringMatching(/returned 500/),
    });
  });

  test("never mixes two objects", async () => {
    await open().put("shop/1/changed.zst", chunked(content), whole);
    s3.rule(async (asked) => {
      if (!asked.startsWith("GET")) return "pass";
      s3.rule(() => "pass");
      return "cut";
    });
    const stream = await open().get("shop/1/changed.zst", whole);
    await open().replace("shop/1/changed.zst", Buffer.alloc(content.length), whole);
    await expect(buffer(stream)).rejects.toMatchObject({ name: "StorageError" });
  });

  test("is canceled permanently by a reader that stops early", async () => {
    const stream = await open().get(key, whole);
    await once(stream, "readable");
    s3.asked();
    stream.destroy();
    await soon(() => expect(s3.givenUp()).not.toEqual([]));
    const abort = new AbortController();
    const aborted = await open().get(key, { signal: abort.signal });
    await once(aborted, "readable");
    abort.abort(new Error("stopped"));
    await expect(buffer(aborted)).rejects.toThrow("stopped");
    expect(gets(s3.asked())).toBe(1);
  });

  test("is canceled at once if the rest of it does not arrive", async () => {
    s3.rule(() => "stall");
    const stream = await open({ idleMs: 3_600_000 }).get(key, whole);
    await once(stream, "readable");
    // Reads until the stream waits for more.
    while (stream.read() !== null) await setImmediate();
    s3.givenUp();
    stream.destroy();
    await soon(() => expect(s3.givenUp()).not.toEqual([]));
  });
});

describe("failed requests", () => {
  /** Two whole parts and more: the second part starts a multipart upload. */
  const large = randomBytes(17_000_000);

  test("retries a single 500", async () => {
    let failed = false;
    s3.rule((asked) => {
      if (failed || !asked.includes("partNumber=2")) return "pass";
      failed = true;
      return 500;
    });
    const storage = open();
    expect(await storage.put("shop/1/again.zst", chunked(large), whole)).toBe(large.length);
    await storage.remove("shop/1/again.zst");
  });

  test.each<[string, "reset" | number, RegExp]>([
    ["answers of 500", 500, /returned 500, 3 times/],
    ["connections that break in the middle of a part", "reset", /closed the connection/],
    ["a refusal", 403, /denies the access/],
  ])("%s end the upload with a message, and it is aborted", async (_, verdict, words) => {
    s3.rule((asked) => (asked.includes("partNumber=2") ? verdict : "pass"));
    await expect(open().put("shop/1/bad.zst", chunked(large), whole)).rejects.toMatchObject({
      name: "StorageError",
      message: expect.stringMatching(words),
    });
    expect(s3.asked().some((asked) => /^DELETE .*uploadId=/.test(asked))).toBe(true);
    expect(await open().size("shop/1/bad.zst")).toBeNull();
    expect((await objects()).filter((name) => name.includes("bad"))).toEqual([]);
  });

  test("an upload whose last response is lost is verified as stored", async () => {
    let lost = false;
    s3.rule((asked) => {
      if (lost || !/^POST .*uploadId=/.test(asked)) return "pass";
      lost = true;
      return "lost";
    });
    const storage = open();
    expect(await storage.put("shop/1/ended.zst", chunked(large), whole)).toBe(large.length);
    expect(lost).toBe(true);
    expect((await buffer(await storage.get("shop/1/ended.zst", whole))).equals(large)).toBe(true);
    await storage.remove("shop/1/ended.zst");
  });

  test("a removal that can't find out what an upload left fails, unless the service never reports that", async () => {
    const key = "shop/1/left.zst";
    const isList = (asked: string) => /^GET .*[?&]uploads/.test(asked);
    s3.rule((asked) => (isList(asked) ? 503 : "pass"));
    await expect(open().remove(key)).rejects.toThrow(/returned 503/);
    for (const verdict of [403, 405, 501]) {
      s3.rule((asked) => (isList(asked) ? verdict : "pass"));
      await open().remove(key);
      expect(s3.asked().some(isList)).toBe(true);
    }
  });

  test("times out without a response", async () => {
    s3.rule((asked) => (asked.includes("partNumber=1") ? "hang" : "pass"));
    const storage = open({ idleMs: 200 });
    await expect(storage.put("shop/1/slow.zst", chunked(large), whole)).rejects.toMatchObject({
      name: "StorageError",
      message: expect.stringMatching(/timed out/),
    });
  });

  test("a content that breaks off leaves nothing, and its own error is reported", async () => {
    const broken = Readable.from(
      (async function* () {
        yield large;
        throw new Error("the dump failed");
      })(),
      { objectMode: false },
    );
    await expect(open().put("shop/1/half.zst", broken, whole)).rejects.toThrow("the dump failed");
    expect(await open().size("shop/1/half.zst")).toBeNull();
    expect(s3.asked().some((asked) => /^DELETE .*uploadId=/.test(asked))).toBe(true);
  });

  test("cancels a pending part if the content breaks off", async () => {
    const held = Promise.withResolvers<"pass">();
    const isSending = Promise.withResolvers<void>();
    s3.rule((asked) => {
      if (!asked.includes("partNumber=2")) return "pass";
      isSending.resolve();
      return held.promise;
    });
    s3.givenUp();
    const broken = Readable.from(
      (async function* () {
        yield large;
        await isSending.promise;
        throw new Error("the dump failed");
      })(),
      { objectMode: false },
    );
    await expect(open().put("shop/1/late.zst", broken, whole)).rejects.toThrow("the dump failed");
    await soon(() => expect(s3.givenUp().join()).toMatch(/PUT .*partNumber=2/));
    held.resolve("pass");
  });

  test("ends on abort", async () => {
    const abort = new AbortController();
    s3.rule((asked) => {
      if (asked.includes("partNumber=2")) abort.abort(new Error("stopped"));
      return "pass";
    });
    await expect(
      open().put("shop/1/stopped.zst", chunked(large), { signal: abort.signal }),
    ).rejects.toThrow("stopped");
    s3.rule(() => "pass");
    expect(await open().size("shop/1/stopped.zst")).toBeNull();
  });

  test.each<[string, object, RegExp]>([
    ["an unknown key", { accessKey: "nobody" }, /access key/],
    ["a bucket that is not there", { bucket: "nowhere" }, /no such bucket/],
    ["a port where nobody listens", { endpoint: "http://127.0.0.1:1" }, /refused/],
    [
      "a name that does not resolve",
      { endpoint: "http://nowhere.invalid" },
      /could not be resolved/,
    ],
  ])("reports %s with what to fix", async (_, change, words) => {
    await expect(
      open(change).put("a/1/b.zst", Readable.from([Buffer.from("x")]), whole),
    ).rejects.toMatchObject({
      name: "StorageError",
      message: expect.stringMatching(words),
    });
  });

  test.each<[string, number, string, RegExp]>([
    ["a page of its own", 400, "<html><body>Bad Request</body></html>", /400, and doesn't say why/],
    [
      "a sentence",
      400,
      "Client sent an HTTP request to an HTTPS server.",
      /doesn't say why\. Check/,
    ],
    ["another region", 301, codeOf("PermanentRedirect"), /is in another region\. Correct/],
    ["a full quota", 403, codeOf("QuotaExceeded"), /has no space left\. Free some/],
    ["an archive", 403, codeOf("InvalidObjectState"), /has moved the file to an archive/],
    ["full disks", 507, codeOf("XMinioStorageFull"), /has no space left\. Free some/],
  ])("reports %s in place of a file", async (_, status, text, words) => {
    const { port } = await serve((_request, response) => response.writeHead(status).end(text));
    const storage = open({ endpoint: `http://127.0.0.1:${port}` });
    const failure = await storage.get("a/1/b.zst", whole).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: "StorageError",
      message: expect.stringMatching(words),
    });
    expect(failure).toMatchObject({ message: expect.not.stringMatching(/UnknownError|SDK|sdk/) });
  });

  test("a response without a size does not count as a missing file", async () => {
    const { port } = await serve((_request, response) => response.writeHead(200).end());
    await expect(
      open({ endpoint: `http://127.0.0.1:${port}` }).size("a/1/b.zst"),
    ).rejects.toMatchObject({
      name: "StorageError",
      message: expect.stringMatching(/doesn't say how large a file is/),
    });
  });

  test("reports an untrusted certificate", async () => {
    const { port } = await listen(createServer(await makeCertificate("localhost")));
    await expect(
      open({ endpoint: `https://localhost:${port}` }).size("a/1/b.zst"),
    ).rejects.toMatchObject({
      name: "StorageError",
      message: expect.stringMatching(/has a self-signed certificate\. Add its authority/),
    });
  });

  test("reports no file of a missing bucket as missing", async () => {
    await expect(open({ bucket: "nowhere" }).size("a/1/b.zst")).rejects.toMatchObject({
      name: "StorageError",
      message: expect.stringMatching(/no such bucket/),
    });
  });

  test("no message contains a secret", async () => {
    const error: Error = await open({ accessKey: "nobody", secretKey: "very secret" })
      .put("a/1/b.zst", Readable.from([Buffer.from("x")]), whole)
      .then(
        () => new Error("it worked"),
        (reason: Error) => reason,
      );
    expect(error.message).not.toMatch(/very secret|it worked/);
  });
});
