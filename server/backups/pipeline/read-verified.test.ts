// Tests readers of a stored file that stop at any moment: no error is unhandled, and no file stays open.
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLocalStorage } from "../../storage/local.ts";
import type { Storage } from "../../storage/storage.ts";
import { openContent, openVerified, verifyStored, type Expected } from "./read-verified.ts";
import { soon } from "../../testing/soon.ts";

let folder: string;
let storage: Storage;
let expected: Expected;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-opening-"));
  storage = createLocalStorage({ path: folder });
  const content = zstdCompressSync(randomBytes(5_000_000));
  const checksum = createHash("sha256").update(content).digest("hex");
  const signal = new AbortController().signal;
  await storage.put("copy", Readable.from([content]), { signal });
  expected = { path: "copy", size: content.length, checksum };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

/** Returns the files of the folder that this process has open. */
async function openFiles(): Promise<string[]> {
  const names = await readdir("/proc/self/fd");
  const files = await Promise.all(
    names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")),
  );
  return files.filter((file) => file.startsWith(folder));
}

const openAs =
  (isPacked: boolean) =>
  (from: typeof storage, file: typeof expected, signal: AbortSignal): Promise<Readable> =>
    openContent(from, file, { key: null, isPacked }, signal);

test.each([
  ["openVerified", openVerified],
  ["openContent", openAs(false)],
  ["openContent, packed", openAs(true)],
  ["verifyStored", verifyStored],
])("%s", async (_name, open) => {
  for (let moment = 0; moment < 40; moment++) {
    const giveUp = new AbortController();
    const opening = open(storage, expected, giveUp.signal).catch((error: Error) => error);
    await turns(moment);
    giveUp.abort(new Error("given up"));
    const opened = await opening;
    // A caller may start to read a stream after it has failed.
    await turns(3);
    const reading = opened instanceof Readable ? opened.toArray() : Promise.reject(opened);
    if (!(opened instanceof Readable) || !opened.readableEnded)
      await expect(reading).rejects.toThrow("given up");
  }
  await soon(async () => expect(await openFiles()).toEqual([]));
});
