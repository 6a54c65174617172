// Decompresses a stream to verify that it is complete, count its bytes, and inspect an archive.
import { finished } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { freeOutput, outputBytes } from "../../piece-memory.ts";
import { createArchiveInspector, type ArchiveSummary } from "../sources/folder/archive.ts";
import { writeTo } from "../../write-to.ts";

/** Content of a zstd stream: a tar archive, or other content that is only counted. */
export type Content = "archive" | "other";

export type Unpacked = { plainBytes: number; archive: ArchiveSummary | null };

export function createUnpacker(content: Content) {
  const inspector = content === "archive" ? createArchiveInspector() : null;
  let plainBytes = 0;
  const plain = createZstdDecompress({ chunkSize: outputBytes }).on("data", (piece: Buffer) => {
    plainBytes += piece.length;
    inspector?.inspect(piece);
    freeOutput(piece);
  });
  // The next write reports the error.
  plain.on("error", () => undefined);
  return {
    plainBytes: () => plainBytes,
    /** Resolves once the memory of the piece may be reused. @throws zlib's error for a damaged one */
    write: (piece: Buffer): Promise<void> => writeTo(plain, piece),
    /** @throws zlib's error for a truncated stream */
    async end(): Promise<Unpacked> {
      plain.end();
      await finished(plain);
      return { plainBytes, archive: inspector?.summary() ?? null };
    },
  };
}
