// Dumps a source into a file, uncompressed, and returns its manifest.
import { finished, pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { createZstdDecompress } from "node:zlib";
import { toError } from "../../to-error.ts";
import { outputBytes } from "../../piece-memory.ts";
import { maxContentBytes } from "./patch.ts";
import { reasonMs, type StoreOptions } from "../pipeline/store-dump.ts";
import { createArchiveInspector } from "../sources/folder/archive.ts";
import type { Manifest } from "../sources/source.ts";
import { runTogether } from "../pipeline/together.ts";
import { NoRoom, type UnnamedFile } from "./unnamed-file.ts";

type Dumped = Pick<StoreOptions, "dump" | "compressed" | "signal" | "onProgress">;

/** @returns null where there is not enough space. @throws the first error, like `storeDump` */
export async function dumpToFile(
  file: UnnamedFile,
  { dump, compressed = null, signal: outside, onProgress }: Dumped,
): Promise<Manifest | null> {
  const onPiece = () => onProgress({ plainBytes: file.sizeBytes(), storedBytes: 0 });
  const writer = file.writer({ limitBytes: maxContentBytes, onPiece });
  const inspector = compressed?.content === "archive" ? createArchiveInspector() : null;
  const unpacker = compressed === null ? null : createZstdDecompress({ chunkSize: outputBytes });
  const into = unpacker ?? writer;
  async function* inspected(pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      inspector?.inspect(piece);
      yield piece;
    }
  }
  try {
    const [manifest] = await runTogether<[Awaited<ReturnType<typeof dump>>, void]>(
      outside,
      ({ signal, failed }) => {
        signal.addEventListener("abort", () => into.destroy(toError(signal.reason)));
        const dumped = dump(into, signal);
        const written = (
          unpacker === null ? finished(writer) : pipeline(unpacker, inspected, writer)
        ).catch(async (error: unknown) => {
          // A dump destroys its output before it throws; its own error is the cause, not that of the stream.
          await Promise.race([dumped, failed, wait(reasonMs, undefined, { ref: false })]);
          throw error;
        });
        return [dumped, written];
      },
    );
    return typeof manifest === "function" ? manifest(inspector?.summary() ?? null) : manifest;
  } catch (error) {
    if (writer.errored instanceof NoRoom && !outside.aborted) return null;
    throw error;
  }
}
