// Compresses a dump on its way to the storage, or passes on one that comes compressed.
import { PassThrough, type Duplex, type Writable } from "node:stream";
import { constants, createZstdCompress } from "node:zlib";
import { usualCompressionLevel } from "../../../contract/backups/backup.ts";
import { freeOutput, outputBytes, type PieceMemory } from "../../piece-memory.ts";
import { createChunkBuffer } from "./chunk-buffer.ts";

type Packing = {
  /** The dump writes into it. */
  into: Writable;
  /** The storage reads from it. */
  out: Duplex;
  /** @returns bytes so far before compression; absent where the dump comes compressed */
  plainBytes?(): number;
  /** Takes back pieces of `out`, in order, once they are no longer needed. */
  giveBack(piece: Buffer): void;
};

export function compressHere(level = usualCompressionLevel): Packing {
  const out = createZstdCompress({
    chunkSize: outputBytes,
    params: {
      [constants.ZSTD_c_compressionLevel]: level,
      // Adds zstd's checksum, so that unpacking by hand detects damage as well.
      [constants.ZSTD_c_checksumFlag]: 1,
    },
  });
  return { ...joined(out), plainBytes: () => out.bytesWritten, giveBack: freeOutput };
}

/** Copies what is written, because its memory is reused, into larger pieces. */
export function passCompressed(memory: PieceMemory): Packing {
  // A stream of bytes would copy pieces once more to join them.
  const out = new PassThrough({ objectMode: true, highWaterMark: 1 });
  return { ...joined(out, memory), giveBack: memory.giveBack };
}

function joined(out: Duplex, memory?: PieceMemory): Pick<Packing, "into" | "out"> {
  const into = createChunkBuffer(out, memory);
  // A missing tool fails before the stream has a reader, who still gets the error.
  for (const stream of [into, out]) stream.on("error", () => undefined);
  into.once("error", (error) => out.destroy(error));
  return { into, out };
}
