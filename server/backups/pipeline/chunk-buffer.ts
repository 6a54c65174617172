// Buffers the small chunks that a pipe brings into large ones: each one crosses to zlib's thread and back, which costs
// as much as compressing 64 KiB does.
import { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { callbackify } from "node:util";
import type { PieceMemory } from "../../piece-memory.ts";
import { writeTo } from "../../write-to.ts";

const slabBytes = 1024 * 1024;

const newSlab = (): Buffer => Buffer.allocUnsafeSlow(slabBytes);

/**
 * @param pieces where the memory of the large ones comes from, if `into` keeps it; left out: once `into` has taken one, its
 * memory is used again
 * @returns what copies each chunk before its write is done; ending it ends `into`
 */
export function createChunkBuffer(into: Writable, pieces?: PieceMemory): Writable {
  let filling = pieces?.take() ?? newSlab();
  let filled = 0;
  // Two slabs take turns, so that zlib always has its next one.
  const away = [0, 1].map(() => ({
    slab: pieces === undefined ? newSlab() : null,
    emptied: Promise.resolve(),
  }));

  const handOver = async () => {
    if (filled === 0) return;
    const emptied = writeTo(into, filling.subarray(0, filled));
    emptied.catch(() => undefined);
    away.push({ slab: pieces === undefined ? filling : null, emptied });
    const next = away.shift();
    await next?.emptied;
    filling = next?.slab ?? pieces?.take() ?? newSlab();
    filled = 0;
  };
  const take = callbackify(async (chunk: Buffer) => {
    for (let at = 0; at < chunk.length;) {
      const taken = chunk.copy(filling, filled, at);
      filled += taken;
      at += taken;
      if (filled === filling.length) await handOver();
    }
  });
  const finish = callbackify(async () => {
    await handOver();
    await Promise.all(away.map(({ emptied }) => emptied));
    into.end();
    await finished(into, { readable: false });
  });

  return new Writable({
    write: (chunk: Buffer, _encoding, done) => take(chunk, done),
    final: (done) => finish(done),
  });
}
