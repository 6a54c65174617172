// Makes a consistent dump by the database's own tool, and counts its rows while they are written.
import { Transform, Writable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { CommandMissing } from "../../../hosts/host.ts";
import { characterSetOf, quoteText, type MysqlClient, type MysqlTools } from "./client.ts";
import { mysqlFailure } from "./errors.ts";
import { createLines, type Table } from "./lines.ts";
import { dumpWithRows, hasRoundedColumns } from "./rows.ts";
import { listNames } from "./list-names.ts";
import { sizeInWords } from "../../formatting.ts";
import { writeTo } from "../../../write-to.ts";
import { SourceError, type Attempt, type Checksums, type Manifest } from "../source.ts";

/** Options of the dump tool, both for a dump and for the structure alone. */
const toolOptions = (tools: MysqlTools): string[] => [
  "--single-transaction",
  "--quick",
  "--routines",
  "--events",
  "--triggers",
  "--hex-blob",
  "--comments",
  "--default-character-set=utf8mb4",
  "--max-allowed-packet=1G",
  "--skip-lock-tables",
  // With LOCK TABLES in the dump, a table whose default uses a sequence could not be loaded.
  "--skip-add-locks",
  "--no-tablespaces",
  // For MySQL's tool: only an administrator can restore a GTID set, and not every server has column statistics.
  ...(tools.dump.isMariadb ? [] : ["--set-gtid-purged=OFF", "--column-statistics=0"]),
];

export type DumpOptions = { client: MysqlClient };

/** Runs the dump tool. @param tables only these; empty = all. @throws SourceError, an abort, or the error of `output` */
export async function runDumpTool(
  { client }: DumpOptions,
  extra: readonly string[],
  output: Writable,
  signal: AbortSignal,
  database: string = client.place.database,
  tables: readonly string[] = [],
): Promise<void> {
  const { place } = client;
  const tools = await client.tools(signal);
  const end = await client
    .connect({
      argv: [tools.dump.program, ...toolOptions(tools), ...extra, "--", database, ...tables],
      output,
      signal,
    })
    .catch((error: unknown) => {
      if (error instanceof CommandMissing)
        throw new SourceError(`${error.message}. Install mariadb-client (or mysql-client).`);
      throw error;
    });
  if (end.exitCode !== 0) throw mysqlFailure(place, end);
}

/**
 * Dumps a database with its rows as they are stored, without rounding.
 * @param output is ended @returns the program that wrote the rows
 */
export async function runWholeDump(
  options: DumpOptions,
  extra: readonly string[],
  output: Writable,
  signal: AbortSignal,
  database: string = options.client.place.database,
): Promise<string> {
  const { client } = options;
  const tools = await client.tools(signal);
  if (!(await hasRoundedColumns(client, database, signal))) {
    await runDumpTool(options, extra, output, signal, database);
    return writerOf(tools);
  }
  const structure = (into: Writable) =>
    runDumpTool(options, [...extra, "--no-data"], into, signal, database);
  await dumpWithRows(client, database, structure, output, signal);
  return `${serverOf(tools)} itself`;
}

/** Set for a dump of a scratch database, to which nothing else writes. */
type Scratch = {
  /** SQL for events that the scratch database must not have, one character per byte, each statement ended by `;;`. */
  events: string;
};

/** @throws SourceError, an abort, or the error of `into`; `into` is destroyed then */
export async function dumpMysql(
  options: DumpOptions,
  into: Writable,
  attempt: Attempt,
  scratch: Scratch | null = null,
): Promise<Manifest> {
  const { client } = options;
  try {
    const characterSet = await characterSetLine(client, attempt.signal);
    await tellUncovered(client, attempt, scratch !== null);
    const dump = createDumpStream(characterSet);
    // Not ended by the pipeline, because the tool closes its output after a failure, too.
    const passing = pipeline(dump.stream, into, { end: false, signal: attempt.signal });
    passing.catch(() => undefined);
    let writer: string;
    try {
      const running = runWholeDump(options, [], dump.stream, attempt.signal);
      running.catch((error: Error) => dump.stream.destroy(error));
      const [ending, passed] = await Promise.allSettled([running, passing]);
      attempt.signal.throwIfAborted();
      if (ending.status === "rejected") throw ending.reason;
      if (passed.status === "rejected") throw passed.reason;
      writer = ending.value;
    } finally {
      dump.stream.destroy();
    }
    if (!dump.isWhole())
      throw new SourceError(
        `The dump of ${client.place.shown} ended without its end mark, so it is not whole. Run the backup again.`,
      );
    if (scratch !== null && scratch.events !== "")
      await writeTo(into, eventsSection(client.place.database, scratch.events));
    into.end();
    await finished(into, { readable: false });
    await tellLongRows(client, dump.tables(), attempt);
    return {
      kind: "database",
      ...countsOf(dump.tables(), writer),
    };
  } catch (error) {
    into.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}

/** Returns SQL for the database's character set, the default of new tables and routines, which a dump of one database lacks. */
async function characterSetLine(client: MysqlClient, signal: AbortSignal): Promise<string> {
  const { database, shown } = client.place;
  const characterSet = await characterSetOf(client, signal);
  if (characterSet === null)
    throw new SourceError(`The server of ${shown} has no database ${database} for this account.`);
  return `ALTER DATABASE ${characterSet};\n`;
}

/** Returns a section of events as the dump tools write it, with another end mark. */
const eventsSection = (database: string, events: string): Buffer =>
  Buffer.concat([
    Buffer.from(`\n--\n-- Dumping events for database '${database}'\n--\nDELIMITER ;;\n`),
    Buffer.from(events, "latin1"),
    Buffer.from("DELIMITER ;\n\n-- Dump completed\n"),
  ]);

async function tellUncovered(
  client: MysqlClient,
  { say, signal }: Attempt,
  isScratch: boolean,
): Promise<void> {
  const broken = await client.query(
    `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(client.place.database)} AND TABLE_NAME LIKE '%\\n%'`,
    { signal },
  );
  if (broken.length > 0)
    throw new SourceError(
      `A table of ${client.place.shown} has a line break in its name, which is more than dumps can hold: ${JSON.stringify(broken[0]?.[0])}. Rename it.`,
    );
  const versioned = await client.query(
    `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(client.place.database)} AND TABLE_TYPE = 'SYSTEM VERSIONED'`,
    { signal },
  );
  if (versioned.length > 0)
    say(
      `Backed up as they are now, without their earlier rows (system versioning): ${listNames(versioned.map(([table = ""]) => table))}.`,
    );
  if (isScratch) return;
  const rows = await client.query(
    `SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(client.place.database)} AND TABLE_TYPE <> 'VIEW' AND TABLE_TYPE <> 'SEQUENCE' AND ENGINE NOT IN ('InnoDB', 'RocksDB', 'TokuDB', 'ndbcluster')`,
    { signal },
  );
  if (rows.length === 0) return;
  const names = rows.map(([table, engine]) => `${table} (${engine})`);
  say(
    `Possibly inconsistent with the rest, if written to during the backup: ${listNames(names)}. ALTER TABLE … ENGINE=InnoDB prevents that.`,
  );
}

/** Passes a dump on with the database's character set after its first line, counts rows, and checks that the dump is complete. */
export function createDumpStream(characterSet: string) {
  let isBegun = false;
  let isWhole = false;
  const lines = createLines({
    structure: (line) => {
      if (line.trim() !== "") isWhole = line.startsWith("-- Dump completed");
    },
    rows: () => {
      isWhole = false;
    },
  });
  const stream = new Transform({
    transform(chunk: Buffer, _, done) {
      lines.write(chunk);
      const lineEnd = isBegun ? -1 : chunk.indexOf(0x0a);
      if (lineEnd < 0) return done(null, chunk);
      // After the first line, because clients look for their sandbox mark only there.
      isBegun = true;
      this.push(chunk.subarray(0, lineEnd + 1));
      this.push(Buffer.from(characterSet));
      done(null, chunk.subarray(lineEnd + 1));
    },
    flush(done) {
      lines.end();
      done();
    },
  });
  return { stream, isWhole: () => isWhole, tables: lines.tables };
}

const serverOf = ({ serverVersion, isMariadb }: MysqlTools): string =>
  `${isMariadb ? "MariaDB" : "MySQL"} ${/^\d+\.\d+/.exec(serverVersion)?.[0] ?? serverVersion}`;

/** Identifies tool and server: dumps with the same value write the same rows the same way. */
const writerOf = (tools: MysqlTools): string =>
  `${tools.dump.isMariadb ? "mariadb-dump" : "mysqldump"} ${tools.dump.version} of ${serverOf(tools)}`;

export const countsOf = (
  tables: readonly Table[],
  by: string,
): { tables: Record<string, number>; checksums: Checksums } => ({
  tables: Object.fromEntries(tables.map(({ name, rows }) => [name, rows])),
  checksums: {
    by,
    tables: Object.fromEntries(tables.map(({ name, digest }) => [name, digest.sum()])),
  },
});

/** Most bytes that a statement has before and after its row. */
const aroundRowBytes = 1024;

/** Warns of rows that are too long for the server as one statement; bytes are longer as SQL, because they are hex digits. */
async function tellLongRows(
  client: MysqlClient,
  tables: readonly Table[],
  { say, signal }: Attempt,
): Promise<void> {
  const longest = Math.max(0, ...tables.map(({ longestRowBytes }) => longestRowBytes));
  // No server has a smaller limit.
  if (longest + aroundRowBytes < smallestPacketBytes) return;
  const [[packet] = []] = await client.query("SELECT @@GLOBAL.max_allowed_packet", { signal });
  const limit = Number(packet);
  const long = tables.filter(({ longestRowBytes }) => longestRowBytes + aroundRowBytes > limit);
  if (long.length === 0) return;
  const needed = 2 ** Math.ceil(Math.log2(longest + aroundRowBytes));
  say(
    `Warning: ${listNames(long.map(({ name, longestRowBytes }) => `${name} has a row of ${sizeInWords(longestRowBytes)} as SQL`))}, and the server takes ${sizeInWords(limit)} in one statement (max_allowed_packet), so a restore or drill would be refused. Allow it on the server with: SET GLOBAL max_allowed_packet = ${Math.min(needed, 2 ** 30)};`,
  );
}

const smallestPacketBytes = 1024;

/**
 * Dumps the structure and discards it, to find missing privileges.
 * @param leftOut views that cannot be read
 */
export async function tryDump(
  options: DumpOptions,
  leftOut: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const nowhere = new Writable({ write: (_, __, done) => done() });
  await runDumpTool(options, structureWithout(options, leftOut), nowhere, signal);
}

/** Options for a dump of the structure without these views. */
export const structureWithout = ({ client }: DumpOptions, views: readonly string[]): string[] => [
  "--no-data",
  ...views.map((view) => `--ignore-table=${client.place.database}.${view}`),
];
