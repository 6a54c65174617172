// Reads the table of contents at the beginning of a pg_dump archive, and keeps what it read for the archive's stream.
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { givenFile } from "../../../hosts/given-file.ts";
import type { Command, CommandEnd, Host } from "../../../hosts/host.ts";
import { pipelineEnds, pipelineOf } from "../../../hosts/shell-pipeline.ts";
import { giveBackPiece } from "../../../piece-memory.ts";
import { packSqlCommand, unpackCommand } from "../compress-there.ts";
import { lastWords, type Tools } from "./tools.ts";
import { SourceError } from "../source.ts";

/** An entry of an archive's table of contents. */
export type Entry = {
  id: string;
  /** The whole line, as `pg_restore --list` prints it and `--use-list` accepts it. */
  line: string;
  /** Such as `TABLE` or `FK CONSTRAINT`. */
  kind: string;
  /** Schema, name and owner, separated by spaces; names may contain spaces, too. */
  rest: string;
  /** Ids of the entries that it depends on. */
  needs: readonly string[];
};

export type Archive = {
  /** One line for each entry, as `pg_restore --list` prints it. */
  contents: string[];
  /** Returns the entries, parsed. */
  entries(): Entry[];
  /** Major version of the pg_dump that wrote the archive. */
  dumpMajor: number;
  /** Opens the archive from its first byte, any number of times, but only until `stream` is read. Keeps in memory what was read. */
  openHead(): Readable;
  /** The whole archive; compressed by zstd where it was opened so. */
  stream: Readable;
  /** Runs pg_restore on `openHead()` or `stream`. @param list lines of the entries to restore; null = everything */
  run(list: string[] | null, command: Command): Promise<CommandEnd>;
  /** Like `run`, for a command that writes SQL: its output is compressed by zstd where `isSqlPacked`. */
  runForSql: Archive["run"];
  /** Whether `runForSql` compresses the SQL. */
  isSqlPacked: boolean;
  /** Whether `stream` is compressed by zstd. */
  isPacked: boolean;
};

/** @throws SourceError where `from` is not an archive; or the error of `from` */
export async function openArchive(
  running: RunTool,
  tools: Tools,
  from: Readable,
  signal: AbortSignal,
): Promise<Archive> {
  // Only pieces of `stream` are released after use, because those of the head are read again.
  const runWith =
    (isOutputPacked: boolean): Archive["run"] =>
    (list, command) =>
      runOnArchive(
        { ...running, isOutputPacked },
        list,
        command.input === stream ? { ...command, release: giveBackPiece } : command,
      );
  const run = runWith(false);
  const chunks: AsyncIterator<Buffer> = from.iterator({ destroyOnReturn: false });
  const head: Buffer[] = [];
  let fetching: Promise<boolean> | null = null;
  const fetchChunk = async (): Promise<boolean> => {
    const { done, value } = await chunks.next();
    if (done === true) return false;
    head.push(value);
    fetching = null;
    return true;
  };
  // Fetches one chunk at a time and keeps it, because the reader that asked for it may be gone by then. The end and an error
  // are kept, too, for later readers.
  const hasMore = () => (fetching ??= fetchChunk());
  const openHead = () => {
    let at = 0;
    return readFrom(async () => {
      while (at >= head.length) if (!(await hasMore())) break;
      const value = head[at++];
      return value === undefined ? end : { value };
    });
  };
  const next = async (): Promise<IteratorResult<Buffer>> => {
    if (head.length === 0) await hasMore();
    const value = head.shift();
    return value === undefined ? end : { value };
  };
  const stream = readFrom(next);
  // pg_restore reads no further than the table of contents. Its output goes into a stream, because the command's end keeps only a
  // limited amount of it, and half a list would restore half the database.
  const output = new PassThrough();
  const listing = text(output);
  listing.catch(() => undefined);
  const listed = await run(null, {
    // --verbose adds the dependencies.
    argv: [tools.program("pg_restore"), "--list", "--verbose"],
    input: openHead(),
    output,
    signal,
  });
  if (listed.exitCode !== 0)
    throw new SourceError(`The backup isn't a complete pg_dump archive: ${lastWords(listed)}`);
  const list = await listing;
  const version = /^; +Dumped by pg_dump version: (\d+)/m.exec(list)?.[1];
  return {
    contents: list.split("\n").filter((line) => /^\d+;/.test(line)),
    entries: () => readEntries(list),
    dumpMajor: Number(version ?? tools.major),
    openHead,
    stream,
    run,
    runForSql: runWith(running.isSqlPacked),
    isSqlPacked: running.isSqlPacked,
    isPacked: running.isPacked,
  };
}

/** Kinds of more than one word. Where one begins with another, the longer one is first. */
const longKinds = [
  "ACCESS METHOD",
  "BLOB COMMENTS",
  "BLOB METADATA",
  "CHECK CONSTRAINT",
  "DATABASE PROPERTIES",
  "DEFAULT ACL",
  "EVENT TRIGGER",
  "FK CONSTRAINT",
  "FOREIGN DATA WRAPPER",
  "FOREIGN SERVER",
  "FOREIGN TABLE",
  "INDEX ATTACH",
  "LARGE OBJECT",
  "MATERIALIZED VIEW DATA",
  "MATERIALIZED VIEW",
  "OPERATOR CLASS",
  "OPERATOR FAMILY",
  "PROCEDURAL LANGUAGE",
  "PUBLICATION TABLES IN SCHEMA",
  "PUBLICATION TABLE",
  "ROW SECURITY",
  "SECURITY LABEL",
  "SEQUENCE OWNED BY",
  "SEQUENCE SET",
  "SHELL TYPE",
  "STATISTICS DATA",
  "SUBSCRIPTION TABLE",
  "TABLE ATTACH",
  "TABLE DATA",
  "TEXT SEARCH CONFIGURATION",
  "TEXT SEARCH DICTIONARY",
  "TEXT SEARCH PARSER",
  "TEXT SEARCH TEMPLATE",
  "USER MAPPING",
];

/** Parses the output of `pg_restore --list --verbose`. */
export function readEntries(list: string): Entry[] {
  const entries: (Entry & { needs: string[] })[] = [];
  for (const line of list.split("\n")) {
    const needs = /^;\tdepends on: ?(.*)$/.exec(line)?.[1];
    if (needs !== undefined) entries.at(-1)?.needs.push(...needs.trim().split(" "));
    const [, id = "", described = ""] = /^(\d+); \d+ \d+ (.*)$/.exec(line) ?? [];
    if (id === "") continue;
    const [first = ""] = described.split(" ");
    const kind = longKinds.find((one) => described.startsWith(`${one} `)) ?? first;
    entries.push({ id, line, kind, rest: described.slice(kind.length + 1), needs: [] });
  }
  return entries;
}

const end: IteratorResult<Buffer> = { done: true, value: undefined };

/** Unlike `Readable.from`, it can be destroyed while it waits for a chunk. */
const readFrom = (next: () => Promise<IteratorResult<Buffer>>): Readable =>
  new Readable({
    read() {
      next().then(
        ({ done, value }) => this.push(done === true ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
  });

type RunTool = {
  host: Host;
  isSqlPacked: boolean;
  /** Whether the archive is compressed by zstd; the machine's own zstd decompresses it. */
  isPacked: boolean;
};

/** Runs pg_restore on an archive. @param list lines of the entries to restore; null = everything */
async function runOnArchive(
  { host, isPacked, isOutputPacked }: RunTool & { isOutputPacked: boolean },
  list: string[] | null,
  { argv, ...rest }: Command,
): Promise<CommandEnd> {
  const tool = list === null ? argv : ([...argv, `--use-list=${givenFile(0)}`] as const);
  const output = isOutputPacked ? [packSqlCommand] : [];
  const stages: Parameters<typeof pipelineOf> = isPacked
    ? [unpackCommand, tool, ...output]
    : [tool, ...output];
  const command = { ...rest, argv: stages.length === 1 ? tool : pipelineOf(...stages) };
  const end = await host.run(
    list === null ? command : { ...command, given: [`${list.join("\n")}\n`] },
  );
  if (stages.length === 1) return end;
  // Only the exit code of pg_restore counts: it may stop reading before zstd has written everything. Truncated output fails when it
  // is decompressed.
  return { ...end, exitCode: pipelineEnds(end.stderr)?.[isPacked ? 1 : 0] ?? null };
}
