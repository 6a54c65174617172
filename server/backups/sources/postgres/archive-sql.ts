// Converts a whole archive to SQL, for an import that reads it.
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { createCommandOutput } from "../../../hosts/command-output.ts";
import { outputBytes } from "../../../piece-memory.ts";
import type { Backup } from "./run-script.ts";
import { lastWords } from "./tools.ts";
import { SourceError } from "../source.ts";

/** @throws SourceError where pg_restore cannot read the archive, after everything that it could read */
export async function* archiveSql(
  { tools, archive }: Backup,
  input: Readable,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const leaving = new AbortController();
  const output = createCommandOutput();
  const running = archive.runForSql(null, {
    argv: [
      tools.program("pg_restore"),
      "--single-transaction",
      // Subscriptions would begin to replicate into what was just restored.
      "--no-subscriptions",
      "--file=-",
    ],
    input,
    take: output.take,
    signal: AbortSignal.any([signal, leaving.signal]),
  });
  running.then(output.end, output.fail);
  try {
    yield* archive.isSqlPacked ? unpacked(output.pieces) : output.pieces;
    const end = await running;
    if (end.exitCode !== 0)
      throw new SourceError(
        `The file is cut off or damaged. Copy it again, or dump again. pg_restore says: ${lastWords(end)}`,
      );
  } finally {
    leaving.abort();
    await running.catch(() => undefined);
  }
}

/** Decompresses SQL that another machine has compressed. */
function unpacked(pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const unpack = createZstdDecompress({ chunkSize: outputBytes });
  // The reader of the stream gets the error.
  pipeline(pieces, unpack).catch(() => undefined);
  return unpack;
}
