// Buffers the small chunks that a pipe brings into large ones: each one crosses to zlib's thread and back, which costs
// as much as compressing 64 KiB does.
import { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { callbackify } from "node:util";
import { writeTo } from "./sources/write-to.ts";

const slabBytes = 1024 * 1024;

const newSlab = () => ({ memory: Buffer.allocUnsafeSlow(slabBytes), emptied: Promise.resolve() });

/** @returns what copies each chunk before its write is done; ending it ends `into` */
export function createChunkBuffer(into: Writable): Writable {
  let filling = newSlab();
  let filled = 0;
  // Slabs take turns. Two are on their way, so that zlib has its next one when it is done with one.
  const away = [newSlab(), newSlab()];

  const handOver = async () => {
    if (filled === 0) return;
    const { memory } = filling;
    const emptied = writeTo(into, memory.subarray(0, filled));
    emptied.catch(() => undefined);
    away.push({ memory, emptied });
    filling = away.shift() ?? newSlab();
    filled = 0;
    await filling.emptied;
  };
  const take = callbackify(async (chunk: Buffer) => {
    for (let at = 0; at < chunk.length;) {
      const taken = chunk.copy(filling.memory, filled, at);
      filled += taken;
      at += taken;
      if (filled === slabBytes) await handOver();
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
