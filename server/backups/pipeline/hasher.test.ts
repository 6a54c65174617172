import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../testing/machine.ts";
import { createHasher, placeBytes } from "./hasher.ts";
import { createArchiveInspector } from "../sources/folder/archive.ts";
import { SourceError } from "../sources/source.ts";

const lengths = (count: number, bytes: number) => Array.from({ length: count }, () => bytes);

test.each([
  ["nothing", []],
  ["one piece", [700]],
  ["a few small ones", [700, 0, 1_000, 3]],
  ["many small ones", lengths(500, 1_000)],
  ["many large ones", lengths(12, placeBytes)],
  ["some larger than a place", [3, 5 * placeBytes + 7, 0, placeBytes + 1, 11]],
])("the hash of %s covers all of it", async (_, sizes) => {
  const hasher = createHasher();
  const expected = createHash("sha256");
  const memory = Buffer.alloc(Math.max(0, ...sizes));
  for (const size of sizes) {
    // Reuses the memory, because a piece may be overwritten as soon as the hasher has accepted it.
    const piece = memory.subarray(0, size).fill(randomBytes(32));
    expected.update(piece);
    await hasher.sent.update(piece);
  }
  expect(await hasher.sent.digest()).toBe(expected.digest("hex"));
  await hasher.end();
});

test("a closed hasher reports that instead of waiting forever", async () => {
  const hasher = createHasher();
  for (let count = 0; count < 3; count++) await hasher.sent.update(Buffer.alloc(placeBytes));
  await hasher.end();
  await expect(hasher.sent.digest()).rejects.toThrow("has ended");
});

test("starts again from the beginning after a digest", async () => {
  const hasher = createHasher();
  const pieces = [randomBytes(10), randomBytes(2 * placeBytes)];
  const whole = createHash("sha256").update(Buffer.concat(pieces)).digest("hex");
  for (let round = 0; round < 2; round++) {
    for (const piece of pieces) await hasher.sent.update(piece);
    expect(await hasher.sent.digest()).toBe(whole);
  }
  await hasher.end();
});

const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
const content = Buffer.concat([randomBytes(3_000_000), Buffer.alloc(9_000_000, "quarterdeck")]);
const packed = zstdCompressSync(content, checked);
const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

async function unpack(bytes: Buffer, kind: "archive" | "other" = "other") {
  const hasher = createHasher(kind);
  onTestFinished(() => hasher.end());
  for (let at = 0; at < bytes.length; at += 700_000)
    await hasher.sent.update(bytes.subarray(at, at + 700_000));
  return { hasher, checksum: await hasher.sent.digest() };
}

test("compressed input is hashed as it is, and its uncompressed bytes are counted", async () => {
  const { hasher, checksum } = await unpack(packed);
  expect(checksum).toBe(hashOf(packed));
  expect(hasher.unpacked()).toEqual({ plainBytes: content.length, archive: null });
  // From then on only hashes are computed, e.g. of the file that is read back.
  await hasher.sent.update(packed.subarray(0, 10));
  expect(await hasher.sent.digest()).toBe(hashOf(packed.subarray(0, 10)));
  expect(hasher.plainBytes()).toBe(content.length);
});

test("the same holds for input that is too small for a thread", async () => {
  const small = zstdCompressSync(Buffer.alloc(50_000, "quarterdeck"), checked);
  const { hasher, checksum } = await unpack(small);
  expect(checksum).toBe(hashOf(small));
  expect(hasher.unpacked()).toEqual({ plainBytes: 50_000, archive: null });
  for (const piece of [packed, packed]) await hasher.sent.update(piece);
  expect(await hasher.sent.digest()).toBe(hashOf(Buffer.concat([packed, packed])));
  expect(hasher.plainBytes()).toBe(50_000);
});

test("inspects a compressed archive", async () => {
  const folder = await makeFolder();
  await mkdir(join(folder, "site"));
  await writeFile(join(folder, "site", "large"), randomBytes(2_000_000));
  await writeFile(join(folder, "site", "small"), "quarterdeck");
  const archive = execFileSync("tar", ["-cf", "-", "-C", folder, "site"], { maxBuffer: 2 ** 24 });
  const inspector = createArchiveInspector();
  inspector.inspect(archive);
  const { hasher } = await unpack(zstdCompressSync(archive, checked), "archive");
  const unpacked = hasher.unpacked();
  expect(unpacked).toEqual({ plainBytes: archive.length, archive: inspector.summary() });
  expect(unpacked?.archive).toMatchObject({ isWhole: true, entries: 3, bytes: 2_000_011 });
});

test.each([
  ["is cut off", packed.subarray(0, -10), "cut off"],
  [
    "is damaged",
    Buffer.concat([packed.subarray(0, 1_000_000), packed.subarray(1_000_003)]),
    "damaged",
  ],
  ["is cut off early", packed.subarray(0, 1_000), "cut off"],
  ["is none", Buffer.from("pg_dump: error: no such table"), "damaged"],
  ["is empty", Buffer.alloc(0), "cut off"],
])("refuses a compressed stream that %s", async (_, broken, words) => {
  const failure = unpack(broken);
  await expect(failure).rejects.toThrow(SourceError);
  await expect(failure).rejects.toThrow(`What arrived isn't a whole zstd stream: it is ${words}.`);
});
