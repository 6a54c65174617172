// Compresses a dump on its way to the storage, or passes it on where it is compressed already.
import { PassThrough, type Duplex, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { callbackify } from "node:util";
import { constants, createZstdCompress } from "node:zlib";
import { usualCompressionLevel } from "../../../contract/backups/backup.ts";
import { freeOutput, outputBytes, type PieceMemory } from "../../piece-memory.ts";
import { writeTo } from "../../write-to.ts";

const slabBytes = 1024 * 1024;

const newSlab = (): Buffer => Buffer.allocUnsafeSlow(slabBytes);

type Packing = {
  /** Receives the dump. */
  into: Writable;
  /** Yields what is stored. */
  out: Duplex;
  /** Bytes so far before compression; absent where the dump is compressed already. */
  plainBytes?(): number;
  /** Takes back the memory of pieces of `out`, in their order, once it is not needed any more. */
  giveBack(piece: Buffer): void;
};

export function compressHere(level = usualCompressionLevel): Packing {
  const out = createZstdCompress({
    chunkSize: outputBytes,
    params: {
      [constants.ZSTD_c_compressionLevel]: level,
      // zstd's own checksum, so that decompressing by hand detects damage, too.
      [constants.ZSTD_c_checksumFlag]: 1,
    },
  });
  return { ...joined(out), plainBytes: () => out.bytesWritten, giveBack: freeOutput };
}

/** Passes on compressed content. Copies it into larger pieces, because the memory of what is written is reused. */
export function passCompressed(memory: PieceMemory): Packing {
  // In object mode, because a stream of bytes would concatenate the pieces by copying them again.
  const out = new PassThrough({ objectMode: true, highWaterMark: 1 });
  return { ...joined(out, memory), giveBack: memory.giveBack };
}

function joined(out: Duplex, memory?: PieceMemory): Pick<Packing, "into" | "out"> {
  const into = createChunkBuffer(out, memory);
  // A missing tool fails before `out` is read; its reader gets the error nevertheless.
  for (const stream of [into, out]) stream.on("error", () => undefined);
  into.once("error", (error) => out.destroy(error));
  return { into, out };
}

/**
 * Joins the small chunks of a pipe into slabs: each chunk would cross to zlib's thread and back, which costs as much as
 * compressing 64 KiB.
 * @param pieces memory for slabs that `into` keeps; if not given, a slab is reused once `into` has taken it
 * @returns a stream that has copied each chunk when its write is done; ending it ends `into`
 */
function createChunkBuffer(into: Writable, pieces?: PieceMemory): Writable {
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
