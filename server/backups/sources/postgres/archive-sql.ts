// Converts an archive to SQL by pg_restore.
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { createCommandOutput } from "../../../hosts/command-output.ts";
import { outputBytes } from "../../../piece-memory.ts";
import type { Archive } from "./archive.ts";
import { lastWords, type Tools } from "./tools.ts";
import { SourceError } from "../source.ts";

/** Bytes held back at the end: more than pg_restore writes from `COMMIT` on. */
const heldBytes = 4096;

/**
 * Yields the archive as SQL. With `--single-transaction`, pg_restore writes `COMMIT` only at the end, and none after large
 * objects. The end is held back until pg_restore has succeeded, so that psql never commits half an archive.
 */
export async function* archiveSql(options: {
  tools: Tools;
  archive: Archive;
  input: Readable;
  list: string[] | null;
  /** Further arguments. */
  more: string[];
  /** Whether the script around the SQL begins and ends the transaction. */
  isWithinOurs?: boolean;
  /** Message where pg_restore cannot read the archive; pg_restore's own message follows. */
  unreadable?: string;
  signal: AbortSignal;
}): AsyncGenerator<Buffer> {
  const { tools, archive, input, list, more, isWithinOurs = false, signal } = options;
  const { unreadable = "The backup could not be read:" } = options;
  const leaving = new AbortController();
  const output = createCommandOutput();
  const running = archive.runForSql(list, {
    argv: [
      tools.program("pg_restore"),
      ...(isWithinOurs ? [] : ["--single-transaction"]),
      // Subscriptions would begin to replicate into what was just restored.
      "--no-subscriptions",
      "--file=-",
      ...more,
    ],
    input,
    take: output.take,
    signal: AbortSignal.any([signal, leaving.signal]),
  });
  running.then(output.end, output.fail);
  try {
    const held: Buffer[] = [];
    let heldAfterFirst = 0;
    for await (const piece of archive.isSqlPacked ? unpacked(output.pieces) : output.pieces) {
      if (held.length > 0) heldAfterFirst += piece.length;
      held.push(piece);
      while (heldAfterFirst >= heldBytes) {
        const [first] = held.splice(0, 1);
        heldAfterFirst -= held[0]?.length ?? 0;
        if (first !== undefined) yield first;
      }
    }
    const end = await running;
    if (end.exitCode !== 0)
      throw new SourceError(`${unreadable} pg_restore says: ${lastWords(end)}`);
    yield* held;
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

const settingsLimitBytes = 64 * 1024;

/** Removes settings from the beginning of pg_restore's output that the restore or the server does not allow. */
export async function* withFittingSettings(
  sql: AsyncIterable<Buffer>,
  serverMajor: number,
): AsyncGenerator<Buffer> {
  let start: Buffer | null = Buffer.alloc(0);
  const fit = (text: string) => {
    // The lock timeout of the prologue has to last until the end.
    const limited = text.replace(/^SET lock_timeout = 0;\n/m, "");
    // So has the search path that was set before.
    const found = limited.replace(
      /^SELECT pg_catalog\.set_config\('search_path', '', false\);\n/m,
      "",
    );
    // pg_restore 17 and newer write this for every server, but older servers refuse it.
    return serverMajor >= 17 ? found : found.replace(/^SET transaction_timeout = 0;\n/m, "");
  };
  for await (const chunk of sql) {
    if (start === null) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    // One character per byte, because the text may be in any encoding.
    const text = start.toString("latin1");
    if (!text.includes("SET check_function_bodies") && start.length < settingsLimitBytes) continue;
    start = null;
    yield Buffer.from(fit(text), "latin1");
  }
  if (start !== null) yield Buffer.from(fit(start.toString("latin1")), "latin1");
}
