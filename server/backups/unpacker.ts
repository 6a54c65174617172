// Unpacks what came compressed, to see that it is whole, to count it, and to inspect an archive.
import { finished } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { createArchiveInspector, type ArchiveSummary } from "./sources/folder/archive.ts";
import { writeTo } from "./sources/write-to.ts";

/** What a zstd stream holds: a tar archive, or something that is only counted. */
export type Content = "archive" | "other";

export type Unpacked = { plainBytes: number; archive: ArchiveSummary | null };

const pieceBytes = 1024 * 1024;

export function createUnpacker(content: Content) {
  const inspector = content === "archive" ? createArchiveInspector() : null;
  let plainBytes = 0;
  const plain = createZstdDecompress({ chunkSize: pieceBytes }).on("data", (piece: Buffer) => {
    plainBytes += piece.length;
    inspector?.inspect(piece);
    free(piece);
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

/**
 * Gives the memory of a piece back at once. zlib fills one buffer after the other, and 64 MB of them would wait for the
 * garbage collector; it is done with one that is full.
 */
function free({ buffer, byteOffset, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && byteOffset + byteLength === pieceBytes) buffer.transfer(0);
}
