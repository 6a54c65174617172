import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createHasher, placeBytes } from "./hasher.ts";

const lengths = (count: number, bytes: number) => Array.from({ length: count }, () => bytes);

test.each([
  ["nothing", []],
  ["one piece", [700]],
  ["many small ones", lengths(500, 1_000)],
  ["many large ones", lengths(12, placeBytes)],
  ["some larger than a place", [3, 5 * placeBytes + 7, 0, placeBytes + 1, 11]],
])("the hash of %s is that of all of it", async (_, sizes) => {
  const hasher = createHasher();
  const expected = createHash("sha256");
  const memory = Buffer.alloc(Math.max(0, ...sizes));
  for (const size of sizes) {
    // Always the same memory: a piece may be overwritten as soon as it was taken over.
    const piece = memory.subarray(0, size).fill(randomBytes(32));
    expected.update(piece);
    await hasher.update(piece);
  }
  expect(await hasher.digest()).toBe(expected.digest("hex"));
  await hasher.end();
});

test("one that was ended says so instead of waiting for ever", async () => {
  const hasher = createHasher();
  for (let count = 0; count < 3; count++) await hasher.update(Buffer.alloc(10));
  await hasher.end();
  await expect(hasher.digest()).rejects.toThrow("has ended");
});
