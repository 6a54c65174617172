// Tests a folder that several processes use at once.
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { giveBackPiece } from "../piece-memory.ts";
import { isLongForm } from "../testing/long-form.ts";
import { soon } from "../testing/soon.ts";
import { createLocalStorage } from "./local.ts";
import { makeRoot } from "./testing/every-storage.ts";

const openFiles = () => readdirSync("/proc/self/fd").map(linkOf);
const linkOf = (name: string): string => {
  try {
    return readlinkSync(`/proc/self/fd/${name}`);
  } catch {
    // The file was closed meanwhile.
    return "";
  }
};

const whole = { signal: new AbortController().signal };
const content = (text: string) => Readable.from([Buffer.from(text)]);

test("stores a file while the last one beside it is removed with their folder", async () => {
  const storage = createLocalStorage({ path: await makeRoot() });
  for (let count = 0; count < (isLongForm ? 100 : 20); count++) {
    await storage.put("a/1/b", content("x"), whole);
    await Promise.all([storage.remove("a/1/b"), storage.put("a/1/c", content("x"), whole)]);
    await Promise.all([storage.remove("a/1/c"), storage.replace("a/1/d", Buffer.from("x"), whole)]);
    expect(await storage.size("a/1/d")).toBe(1);
    await storage.remove("a/1/d");
  }
});

test("reads a file into the memory of pieces that were given back", async () => {
  const storage = createLocalStorage({ path: await makeRoot() });
  const stored = randomBytes(20_500_000);
  await storage.put("a/large", Readable.from([stored]), whole);
  const hash = createHash("sha256");
  const used = new Set<ArrayBufferLike>();
  const pieces: AsyncIterable<Buffer> = await storage.get("a/large", whole);
  for await (const piece of pieces) {
    hash.update(piece);
    used.add(piece.buffer);
    giveBackPiece(piece);
  }
  expect(hash.digest("hex")).toBe(createHash("sha256").update(stored).digest("hex"));
  expect(used.size).toBeLessThanOrEqual(3);
});

test.skipIf(process.platform !== "linux")("closes a file that is not read on", async () => {
  const path = await makeRoot();
  const storage = createLocalStorage({ path });
  await storage.put("a/large", Readable.from([randomBytes(5_000_000)]), whole);
  const unread = await storage.get("a/large", whole);
  const begun = await storage.get("a/large", whole);
  await once(begun, "readable");
  expect(openFiles()).toContain(join(path, "a/large"));
  for (const stream of [unread, begun]) stream.destroy();
  await soon(() => expect(openFiles()).not.toContain(join(path, "a/large")));
});

test("reports an immutable file that can't be removed as such", async (context) => {
  const path = await makeRoot();
  const storage = createLocalStorage({ path });
  await storage.put("a/1/b", content("x"), whole);
  const file = join(path, "a/1/b");
  context.skip(spawnSync("chattr", ["+i", file]).status !== 0, "chattr +i needs root");
  try {
    await expect(storage.remove("a/1/b")).rejects.toMatchObject({
      name: "StorageError",
      message: expect.stringMatching(/may not be used by .*immutable \(lsattr\).*chattr -i/),
    });
  } finally {
    spawnSync("chattr", ["-i", file]);
  }
  await storage.remove("a/1/b");
  expect(await storage.size("a/1/b")).toBeNull();
});
