import { randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createPieceMemory } from "../../piece-memory.ts";
import { passCompressed } from "./packing.ts";
import { writeTo } from "../../write-to.ts";

test("passes compressed input through unchanged", async () => {
  const packed = randomBytes(3_000_000);
  const { into, out } = passCompressed(createPieceMemory());
  const stored = buffer(out);
  // Reuses the same memory, like a pipe.
  const memory = Buffer.alloc(100_000);
  for (let at = 0; at < packed.length; at += memory.length) {
    const size = packed.copy(memory, 0, at);
    await writeTo(into, memory.subarray(0, size));
    memory.fill(0);
  }
  into.end();
  expect((await stored).equals(packed)).toBe(true);
});
