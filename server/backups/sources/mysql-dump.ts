// A consistent dump by the database's own tool, its rows counted as they pass.
import { Transform, Writable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { CommandMissing } from "../../hosts/host.ts";
import { quoteText, type MysqlClient, type MysqlTools } from "./mysql-client.ts";
import { mysqlFailure } from "./mysql-errors.ts";
import { createLines } from "./mysql-lines.ts";
import { SourceError, type Attempt, type Manifest } from "./source.ts";

/** What both the dump and the look at a database's structure say to the tool. */
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
  // LOCK TABLES in the dump would stop the loading of a table whose default asks a sequence.
  "--skip-add-locks",
  "--no-tablespaces",
  // MySQL's tool: a GTID set can be put back by an administrator of the server only; statistics are not asked of servers that have none.
  ...(tools.dump.isMariadb ? [] : ["--set-gtid-purged=OFF", "--column-statistics=0"]),
];

export type DumpOptions = { client: MysqlClient };

/** Runs the dump tool to its end. @throws SourceError, an abort, or the error of `output` */
export async function runDumpTool(
  { client }: DumpOptions,
  extra: readonly string[],
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const { place } = client;
  const tools = await client.tools(signal);
  const end = await client
    .connect({
      argv: [tools.dump.program, ...toolOptions(tools), ...extra, place.database],
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

/** @throws SourceError, an abort, or the error of `into`; `into` is destroyed then */
export async function dumpMysql(
  options: DumpOptions,
  into: Writable,
  attempt: Attempt,
): Promise<Manifest> {
  const { client } = options;
  try {
    const characterSet = await characterSetLine(client, attempt.signal);
    await tellUncovered(client, attempt);
    const dump = createDumpStream(characterSet);
    // Ended by hand: the tool closes its output as calmly after a failure.
    const passing = pipeline(dump.stream, into, { end: false, signal: attempt.signal });
    passing.catch(() => undefined);
    try {
      const running = runDumpTool(options, [], dump.stream, attempt.signal);
      running.catch((error: Error) => dump.stream.destroy(error));
      const [ending, passed] = await Promise.allSettled([running, passing]);
      attempt.signal.throwIfAborted();
      if (ending.status === "rejected") throw ending.reason;
      if (passed.status === "rejected") throw passed.reason;
    } finally {
      dump.stream.destroy();
    }
    if (!dump.isWhole())
      throw new SourceError(
        `The dump of ${client.place.shown} ended without its end mark, so it is not whole. Run the backup again.`,
      );
    into.end();
    await finished(into, { readable: false });
    return { kind: "database", tables: dump.counts() };
  } catch (error) {
    into.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}

/** A dump of one database does not say the database's own character set, which new tables and routines take. */
async function characterSetLine(client: MysqlClient, signal: AbortSignal): Promise<string> {
  const { database, shown } = client.place;
  const [row] = await client.query(
    `SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ${quoteText(database)}`,
    { signal },
  );
  if (row === undefined)
    throw new SourceError(`The server of ${shown} has no database ${database} for this account.`);
  return `ALTER DATABASE CHARACTER SET ${row[0]} COLLATE ${row[1]};\n`;
}

async function tellUncovered(client: MysqlClient, { say, signal }: Attempt): Promise<void> {
  const versioned = await client.query(
    `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(client.place.database)} AND TABLE_TYPE = 'SYSTEM VERSIONED'`,
    { signal },
  );
  if (versioned.length > 0)
    say(
      `Backed up as they are now, without their earlier rows (system versioning): ${listed(versioned.map(([table = ""]) => table))}.`,
    );
  const rows = await client.query(
    `SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(client.place.database)} AND TABLE_TYPE <> 'VIEW' AND TABLE_TYPE <> 'SEQUENCE' AND ENGINE NOT IN ('InnoDB', 'RocksDB', 'TokuDB', 'ndbcluster')`,
    { signal },
  );
  if (rows.length === 0) return;
  const names = rows.map(([table, engine]) => `${table} (${engine})`);
  say(
    `Not of one moment with the rest, if written to during the backup: ${listed(names)}. ALTER TABLE … ENGINE=InnoDB would change that.`,
  );
}

const listed = (names: readonly string[]): string =>
  names.length > 5
    ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more`
    : names.join(", ");

/** Passes a dump on, with the database's character set after its first line, and knows its counts and whether it is whole. */
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
      // Not before it: clients look for their sandbox mark in the first line alone.
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
  return { stream, isWhole: () => isWhole, counts: lines.counts };
}

/** Dumps the structure to nowhere: what a backup would miss rights for fails here. */
export async function tryDump(options: DumpOptions, signal: AbortSignal): Promise<void> {
  const nowhere = new Writable({ write: (_, __, done) => done() });
  await runDumpTool(options, ["--no-data"], nowhere, signal);
}
