// Loads a dump into a scratch database, completely or with an error. Drills compare its content with the manifest.
import { Readable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { quoteName, quoteText, type MysqlClient } from "./client.ts";
import { countsOf, createDumpStream, runWholeDump } from "./dump.ts";
import { codes, MysqlError } from "./errors.ts";
import { dropKeys, listForeignKeys, type ForeignKey } from "./foreign-keys.ts";
import { listTables, rehearseObjects, settableDefiners, withoutAccounts } from "./objects.ts";
import { markerTable, type Names } from "./plan.ts";
import { dropScratch, endSessions, leadOf, makeScratch } from "./scratch.ts";
import { createSplitter, type Objects, type Taken } from "./split.ts";
import { withoutForeignViews } from "./view-order.ts";
import { listNames } from "./list-names.ts";
import { SourceError, type Attempt, type Checksums, type Drill, type Manifest } from "../source.ts";
import { compareTables } from "../tables.ts";
import { toError } from "../../../to-error.ts";

type LoadOptions = {
  client: MysqlClient;
  /** Removes definers, because the server may lack the accounts that views, routines and triggers run as. */
  isElsewhere?: boolean;
  /** Leaves out views that read other databases, which the server may lack. */
  isAlone?: boolean;
};

/**
 * Locks tables of the target for a moment, to find out whether a transaction of another session holds one, before triggers and views
 * are dropped that could not be created again while it does.
 */
export async function tryLocks(
  client: MysqlClient,
  names: Pick<Names, "lock" | "fresh">,
  tables: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (tables.length === 0) return;
  const target = quoteName(client.place.database);
  const locks = [...new Set(tables)]
    .map((table) => `${target}.${quoteName(table)} WRITE`)
    .join(", ");
  const script = `${leadOf(names, names.fresh)}LOCK TABLES ${locks};\nUNLOCK TABLES;\n`;
  try {
    await client.feed(Readable.from([Buffer.from(script)]), { signal });
  } catch (error) {
    // Not every account may lock tables. RENAME then fails on a held one.
    if (!(error instanceof MysqlError) || error.code !== codes.noRightsToDatabase) throw error;
  }
}

type Loaded = {
  /** The dump's objects other than tables. */
  objects: Objects;
  tables: string[];
  /**
   * Foreign keys to tables that are not in the dump, as they are in the target. In the scratch database they would refer to that
   * database, and still do so after the tables are moved.
   */
  orphans: ForeignKey[];
};

/**
 * Loads the dump's tables into a scratch database, and tests its other objects there.
 * @param taken the only tables to load; null = everything
 */
export async function loadScratch(
  options: LoadOptions,
  names: Pick<Names, "lock">,
  database: string,
  from: Readable,
  attempt: Attempt,
  taken: Taken | null = null,
): Promise<Loaded> {
  const { client } = options;
  const loaded = await loadTables(options, names, database, from, attempt, taken);
  await rehearseObjects(client, database, leadOf(names, database), loaded.objects, attempt.signal);
  return loaded;
}

/** Like `loadScratch`, without testing the other objects. */
export async function loadTables(
  { client, isElsewhere = false, isAlone = false }: LoadOptions,
  names: Pick<Names, "lock">,
  database: string,
  from: Readable,
  attempt: Attempt,
  taken: Taken | null = null,
): Promise<Loaded> {
  const { say, signal } = attempt;
  await makeScratch(client, names, database, signal);
  const lead = leadOf(names, database);
  const splitter = createSplitter(lead, taken);
  const passing = pipeline(from, splitter.stream, { signal });
  passing.catch(() => undefined);
  const [loaded, passed] = await Promise.allSettled([
    client.feed(splitter.stream, { database, signal, isLong: true }),
    passing,
  ]);
  signal.throwIfAborted();
  if (loaded.status === "rejected") {
    from.destroy();
    throw loaded.reason;
  }
  if (passed.status === "rejected") throw passed.reason;
  if (!splitter.isWhole())
    throw new SourceError(
      "The dump ends without its end mark: it is cut off, so nothing was put in place.",
    );
  const { objects: loadable, left } = isAlone
    ? withoutForeignViews(splitter.objects)
    : { objects: splitter.objects, left: [] };
  if (left.length > 0) say(`Views that read other databases were not tried: ${listNames(left)}.`);
  const objects = isElsewhere
    ? withoutAccounts(loadable)
    : await settableDefiners(client, database, loadable, attempt);
  await tellEngines(client, database, splitter.engines, attempt);
  const made = await listTables(client, database, signal);
  const tables = made.filter((table) => table !== markerTable);
  // For single tables, all foreign keys are dropped anyway.
  const keys = taken === null ? await listForeignKeys(client, database, signal) : [];
  const orphans = keys.filter((key) => key.database === database && !tables.includes(key.parent));
  if (orphans.length > 0)
    await client.query(`${lead}${dropKeys(orphans, orphans, database)}DO 0`, { signal });
  return {
    objects,
    tables,
    orphans: orphans.map((key) => ({ ...key, database: client.place.database })),
  };
}

/** Warns of tables that got another engine, because the server lacks the requested one or enforces one. */
async function tellEngines(
  client: MysqlClient,
  database: string,
  engines: ReadonlyMap<string, string>,
  { say, signal }: Pick<Attempt, "say" | "signal">,
): Promise<void> {
  const rows = await client.query(
    `SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(database)} AND ENGINE IS NOT NULL ORDER BY TABLE_NAME`,
    { signal },
  );
  const others = rows.flatMap(([table = "", engine = ""]) => {
    const wanted = engines.get(table);
    const isOther = wanted !== undefined && wanted.toLowerCase() !== engine.toLowerCase();
    return isOther ? [`${table} (${engine}, was ${wanted})`] : [];
  });
  if (others.length > 0)
    say(
      `Warning: in another engine than in the backup, because the server lacks that one or enforces another: ${listNames(others)}. What an engine doesn't have, such as foreign keys outside of InnoDB, is left out.`,
    );
}

export const createMysqlDrill = (
  options: LoadOptions,
  namesFor: (id: number) => DrillNames,
): Drill => ({
  async drill(from, manifest, attempt) {
    const found = await drillDump(options, namesFor(attempt.id), from, manifest, attempt);
    return options.isElsewhere === true
      ? `${found} Definers were left out: they are accounts of its own server.`
      : found;
  },
  async settle({ id, signal }) {
    const names = namesFor(id);
    await endSessions(options.client, names, signal);
    await dropScratch(options.client, [names.drill], signal);
  },
});

type DrillNames = Pick<Names, "lock" | "drill">;

async function drillDump(
  options: LoadOptions,
  names: DrillNames,
  from: Readable,
  manifest: Manifest | null,
  attempt: Attempt,
): Promise<string> {
  const { client } = options;
  const cleaning = () => AbortSignal.timeout(cleanLimitMs);
  try {
    await endSessions(client, names, attempt.signal);
    await dropScratch(client, [names.drill], attempt.signal);
    const { tables } = await loadScratch(options, names, names.drill, from, attempt);
    const found = await readBack(options, names.drill, tables, attempt.signal);
    return compareTables(manifest, found.tables, found.checksums);
  } finally {
    from.destroy();
    try {
      await endSessions(client, names, cleaning());
      await dropScratch(client, [names.drill], cleaning());
    } catch (error) {
      attempt.say(
        `The scratch database ${names.drill} could not be dropped: ${toError(error).message}`,
      );
    }
  }
}

const cleanLimitMs = 60_000;

/** Returns rows and checksums by table, from a dump of the loaded tables. A dump has no rows of sequences. */
async function readBack(
  options: LoadOptions,
  database: string,
  tables: readonly string[],
  signal: AbortSignal,
): Promise<{ tables: Record<string, number>; checksums: Checksums }> {
  const { client } = options;
  const sequences = await client.query(
    `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(database)} AND TABLE_TYPE = 'SEQUENCE'`,
    { signal },
  );
  const skipped = new Set(sequences.map(([name]) => name));
  const dump = createDumpStream("");
  const passing = finished(dump.stream.resume(), { writable: false });
  passing.catch(() => undefined);
  const writer = await runWholeDump(
    options,
    [
      "--skip-routines",
      "--skip-events",
      "--skip-triggers",
      `--ignore-table=${database}.${markerTable}`,
    ],
    dump.stream,
    signal,
    database,
  );
  await passing;
  if (!dump.isWhole())
    throw new SourceError(`Couldn't read everything that was loaded into ${database}.`);
  const found = countsOf(dump.tables(), writer);
  for (const table of tables)
    if (!skipped.has(table) && found.tables[table] === undefined)
      throw new SourceError(`The table ${table} was loaded and cannot be read back.`);
  return found;
}
