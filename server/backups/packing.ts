// Between a dump and the storage: compresses what comes plain, and unpacks again what comes compressed, to see that it
// is whole, to count it, and for whoever reads along.
import { Transform, type Duplex, type Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { callbackify } from "node:util";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import { createChunkBuffer } from "./chunk-buffer.ts";
import { SourceError } from "./sources/source.ts";
import { writeTo } from "./sources/write-to.ts";
import { toError } from "../to-error.ts";

type Packing = {
  /** Takes what the dump writes. */
  into: Writable;
  /** Gives what is stored. */
  out: Duplex;
  /** Before compression, so far. */
  plainBytes(): number;
};

export const chunkBytes = 1024 * 1024;

export function compressHere(): Packing {
  const out = createZstdCompress({
    chunkSize: chunkBytes,
    params: {
      [constants.ZSTD_c_compressionLevel]: 3,
      // zstd's own checksum, so that unpacking by hand detects damage too.
      [constants.ZSTD_c_checksumFlag]: 1,
    },
  });
  return { ...joined(out), plainBytes: () => out.bytesWritten };
}

/** @param inspect called with each piece of the content; all of it has passed before the last byte is given out */
export function passCompressed(inspect?: (piece: Buffer) => void): Packing {
  let plainBytes = 0;
  const plain = createZstdDecompress({ chunkSize: chunkBytes }).on("data", (piece: Buffer) => {
    plainBytes += piece.length;
    inspect?.(piece);
  });
  const inWords = (error: unknown) =>
    new SourceError(`What arrived isn't a whole zstd stream: ${toError(error).message}.`);
  const pass = callbackify(async (chunk: Buffer): Promise<Buffer> => {
    // The memory of a chunk is used again.
    const copy = Buffer.from(chunk);
    await writeTo(plain, copy).catch((error: unknown) => Promise.reject(inWords(error)));
    return copy;
  });
  const end = callbackify(async () => {
    plain.end();
    await finished(plain).catch((error: unknown) => Promise.reject(inWords(error)));
  });
  const out = new Transform({
    highWaterMark: chunkBytes,
    transform: (chunk: Buffer, _encoding, done) => pass(chunk, done),
    flush: (done) => end(done),
    destroy(error, done) {
      plain.destroy();
      done(error);
    },
  });
  return { ...joined(out), plainBytes: () => plainBytes };
}

function joined(out: Duplex): Pick<Packing, "into" | "out"> {
  const into = createChunkBuffer(out);
  // A tool that is missing fails before anybody reads; the error reaches the reader all the same.
  for (const stream of [into, out]) stream.on("error", () => undefined);
  into.once("error", (error) => out.destroy(error));
  return { into, out };
}
