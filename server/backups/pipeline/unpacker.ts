// Unpacks what came compressed, to see that it is whole, to count it, and to inspect an archive.
import { finished } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { freeOutput, outputBytes } from "../../piece-memory.ts";
import { createArchiveInspector, type ArchiveSummary } from "../sources/folder/archive.ts";
import { writeTo } from "../../write-to.ts";

/** What a zstd stream holds: a tar archive, or something that is only counted. */
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
  // Told by whoever writes next.
  plain.on("error", () => undefined);
  return {
    plainBytes: () => plainBytes,
    /** @returns once the piece may be used for something else. @throws what zlib says of a damaged one */
    write: (piece: Buffer): Promise<void> => writeTo(plain, piece),
    /** @throws what zlib says of a stream that is not whole */
    async end(): Promise<Unpacked> {
      plain.end();
      await finished(plain);
      return { plainBytes, archive: inspector?.summary() ?? null };
    },
  };
}
