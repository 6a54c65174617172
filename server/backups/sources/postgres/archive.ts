// What stands at the beginning of pg_dump's archive: its table of contents, read while the archive passes.
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { givenFile } from "../../../hosts/given-file.ts";
import type { Command, CommandEnd, Host } from "../../../hosts/host.ts";
import { pipelineEnds, pipelineOf } from "../../../hosts/shell-pipeline.ts";
import { giveBackPiece } from "../../../piece-memory.ts";
import { packSqlCommand, unpackCommand } from "../compress-there.ts";
import { lastWords, type Tools } from "./tools.ts";
import { SourceError } from "../source.ts";

/** One thing in an archive. */
export type Entry = {
  id: string;
  /** Its whole line, as `pg_restore --list` has it and `--use-list` takes it. */
  line: string;
  /** Such as `TABLE` or `FK CONSTRAINT`. */
  kind: string;
  /** Schema, name and owner, separated by blanks, which a name may hold, too. */
  rest: string;
  /** Ids of what it depends on. */
  needs: readonly string[];
};

export type Archive = {
  /** One line for each thing in it, as `pg_restore --list` has them. */
  contents: string[];
  /** The same, taken apart. */
  entries(): Entry[];
  /** The version of the pg_dump that wrote it. */
  dumpMajor: number;
  /** Its beginning, from the first byte, as far as somebody reads; again each time, until `stream` is read. */
  openHead(): Readable;
  /** All of it, from its first byte; compressed by zstd where it is opened so. */
  stream: Readable;
  /** Runs pg_restore on one of the two. @param list what it is to restore alone; null stands for everything */
  run(list: string[] | null, command: Command): Promise<CommandEnd>;
  /** The same for the SQL of all of it, which comes compressed by zstd where `isSqlPacked`. */
  runForSql: Archive["run"];
  /** SQL is compressed on its way from and to the machine that runs the tools. */
  isSqlPacked: boolean;
};

/** @throws SourceError when it is no archive, or `from`'s own error */
export async function openArchive(
  running: RunTool,
  tools: Tools,
  from: Readable,
  signal: AbortSignal,
): Promise<Archive> {
  // What stands at the beginning is read again.
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
  // One chunk at a time, whoever asks, and kept: whoever asked for it may have gone by then. The end and a failure
  // stay as they are, for everybody who asks later.
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
  // It reads to the end of the contents and no further.
  // Into a stream, because there may be more of it than a run keeps; half a list would restore half the database.
  const output = new PassThrough();
  const listing = text(output);
  listing.catch(() => undefined);
  const listed = await run(null, {
    // Verbose, it says what depends on what.
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
  };
}

/** Kinds of more than one word, the longer of two first. Every other is one word. */
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

/** What `pg_restore --list --verbose` says, taken apart. */
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
  /** The archive comes compressed by zstd, which the machine's own program unpacks. */
  isPacked: boolean;
};

/** Runs pg_restore on an archive. @param list what it is to restore alone; null stands for everything */
async function runOnArchive(
  { host, isPacked, isOutputPacked }: RunTool & { isOutputPacked: boolean },
  list: string[] | null,
  { argv, ...rest }: Command,
): Promise<CommandEnd> {
  const tool = list === null ? argv : ([...argv, `--use-list=${givenFile}`] as const);
  const output = isOutputPacked ? [packSqlCommand] : [];
  const stages: Parameters<typeof pipelineOf> = isPacked
    ? [unpackCommand, tool, ...output]
    : [tool, ...output];
  const command = { ...rest, argv: stages.length === 1 ? tool : pipelineOf(...stages) };
  const end = await host.run(
    list === null ? command : { ...command, given: `${list.join("\n")}\n` },
  );
  if (stages.length === 1) return end;
  // It may have read enough before zstd has come to its end, so its own end counts alone; what is cut off of its output can't be
  // unpacked.
  return { ...end, exitCode: pipelineEnds(end.stderr)?.[isPacked ? 1 : 0] ?? null };
}
