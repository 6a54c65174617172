import { randomBytes } from "node:crypto";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { buffer, text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { passCompressed } from "./packing.ts";
import { writeTo } from "./sources/write-to.ts";

const content = Buffer.concat([randomBytes(3_000_000), Buffer.alloc(9_000_000, "quarterdeck")]);
const packed = zstdCompressSync(content, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });

test("what comes compressed passes as it is, and is unpacked beside", async () => {
  const pieces: Buffer[] = [];
  const { into, out, plainBytes } = passCompressed((piece) => pieces.push(Buffer.from(piece)));
  const stored = buffer(out);
  // As a pipe does it: the same memory again and again.
  const memory = Buffer.alloc(100_000);
  for (let at = 0; at < packed.length; at += memory.length) {
    const size = packed.copy(memory, 0, at);
    await writeTo(into, memory.subarray(0, size));
    memory.fill(0);
  }
  into.end();
  expect((await stored).equals(packed)).toBe(true);
  expect(Buffer.concat(pieces).equals(content)).toBe(true);
  expect(plainBytes()).toBe(content.length);
  expect(zstdDecompressSync(await stored).equals(content)).toBe(true);
});

test.each([
  ["is cut off", packed.subarray(0, -10)],
  ["is damaged", Buffer.concat([packed.subarray(0, 1_000_000), packed.subarray(1_000_003)])],
  ["is none", Buffer.from("pg_dump: error: no such table")],
])("a stream that %s breaks before its end", async (_, broken) => {
  const { into, out } = passCompressed();
  const stored = text(out);
  into.end(broken);
  await expect(stored).rejects.toThrow(/^What arrived isn't a whole zstd stream: /);
});
