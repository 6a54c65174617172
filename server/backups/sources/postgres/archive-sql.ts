// An archive as SQL, as pg_restore writes it.
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { createCommandOutput } from "../../../hosts/command-output.ts";
import { outputBytes } from "../../../piece-memory.ts";
import type { Archive } from "./archive.ts";
import { lastWords, type Tools } from "./tools.ts";
import { SourceError } from "../source.ts";

/** More than pg_restore writes from `COMMIT` on. */
const heldBytes = 4096;

/**
 * The archive as SQL. `--single-transaction` brings its own `COMMIT` at the end (and keeps large objects from having
 * theirs in the middle); the end is held back until pg_restore has ended well, so that psql never commits half an archive.
 */
export async function* archiveSql(options: {
  tools: Tools;
  archive: Archive;
  input: Readable;
  list: string[] | null;
  /** Further arguments. */
  more: string[];
  /** The script around it has a transaction of its own, and ends it. */
  isWithinOurs?: boolean;
  /** What is said where pg_restore can't read it, before its own words. */
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
      // They would begin to replicate from elsewhere, into what was just restored.
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

/** Unpacks what comes compressed from another machine. */
function unpacked(pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const unpack = createZstdDecompress({ chunkSize: outputBytes });
  // Whoever reads it hears of it.
  pipeline(pieces, unpack).catch(() => undefined);
  return unpack;
}

const settingsLimitBytes = 64 * 1024;

/** Changes the settings that pg_restore writes before everything else. */
export async function* withFittingSettings(
  sql: AsyncIterable<Buffer>,
  serverMajor: number,
): AsyncGenerator<Buffer> {
  let start: Buffer | null = Buffer.alloc(0);
  const fit = (text: string) => {
    // The prologue's limit is to hold until the end.
    const limited = text.replace(/^SET lock_timeout = 0;\n/m, "");
    // So is the search path.
    const found = limited.replace(
      /^SELECT pg_catalog\.set_config\('search_path', '', false\);\n/m,
      "",
    );
    // Written by 17 and newer for whatever server, and an error for an older one.
    return serverMajor >= 17 ? found : found.replace(/^SET transaction_timeout = 0;\n/m, "");
  };
  for await (const chunk of sql) {
    if (start === null) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    // Byte by byte, because the text may be in any encoding.
    const text = start.toString("latin1");
    if (!text.includes("SET check_function_bodies") && start.length < settingsLimitBytes) continue;
    start = null;
    yield Buffer.from(fit(text), "latin1");
  }
  if (start !== null) yield Buffer.from(fit(start.toString("latin1")), "latin1");
}
