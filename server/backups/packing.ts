// Between a dump and the storage: compresses what comes plain, and passes on what comes compressed.
import { Transform, type Duplex, type Writable } from "node:stream";
import { constants, createZstdCompress } from "node:zlib";
import { usualCompressionLevel } from "../../contract/backups/backup.ts";
import { freeOutput, outputBytes, type PieceMemory } from "../piece-memory.ts";
import { createChunkBuffer } from "./chunk-buffer.ts";

type Packing = {
  /** Takes what the dump writes. */
  into: Writable;
  /** Gives what is stored. */
  out: Duplex;
  /** Before compression, so far; absent where it comes compressed. */
  plainBytes?(): number;
  /** Takes what came out, in its order, once it is not needed any more. */
  giveBack(piece: Buffer): void;
};

export function compressHere(level = usualCompressionLevel): Packing {
  const out = createZstdCompress({
    chunkSize: outputBytes,
    params: {
      [constants.ZSTD_c_compressionLevel]: level,
      // zstd's own checksum, so that unpacking by hand detects damage too.
      [constants.ZSTD_c_checksumFlag]: 1,
    },
  });
  return { ...joined(out), plainBytes: () => out.bytesWritten, giveBack: freeOutput };
}

export function passCompressed(memory: PieceMemory): Packing {
  const out = new Transform({
    // Buffered as bytes, chunks would be put together by copying them once more.
    readableObjectMode: true,
    readableHighWaterMark: 1,
    writableHighWaterMark: outputBytes,
    // The memory of a chunk is used again.
    transform(chunk: Buffer, _encoding, done) {
      const copy = memory.take();
      done(null, copy.subarray(0, chunk.copy(copy)));
    },
  });
  return { ...joined(out), giveBack: memory.giveBack };
}

function joined(out: Duplex): Pick<Packing, "into" | "out"> {
  const into = createChunkBuffer(out);
  // A tool that is missing fails before anybody reads; the error reaches the reader all the same.
  for (const stream of [into, out]) stream.on("error", () => undefined);
  into.once("error", (error) => out.destroy(error));
  return { into, out };
}
