// Between a dump and the storage: compresses what comes plain, and passes on what comes compressed.
import { PassThrough, type Duplex, type Writable } from "node:stream";
import { constants, createZstdCompress } from "node:zlib";
import { usualCompressionLevel } from "../../../contract/backups/backup.ts";
import { freeOutput, outputBytes, type PieceMemory } from "../../piece-memory.ts";
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

/** The memory of what is written is used again, so it is copied, into pieces that are worth a step of their own. */
export function passCompressed(memory: PieceMemory): Packing {
  // Buffered as bytes, pieces would be put together by copying them once more.
  const out = new PassThrough({ objectMode: true, highWaterMark: 1 });
  return { ...joined(out, memory), giveBack: memory.giveBack };
}

function joined(out: Duplex, memory?: PieceMemory): Pick<Packing, "into" | "out"> {
  const into = createChunkBuffer(out, memory);
  // A tool that is missing fails before anybody reads; the error reaches the reader all the same.
  for (const stream of [into, out]) stream.on("error", () => undefined);
  into.once("error", (error) => out.destroy(error));
  return { into, out };
}
