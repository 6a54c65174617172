// Restores single tables of an archive into a live database, in one transaction: it replaces their rows and checks foreign keys
// against the new ones, or changes nothing. Tables that were dropped are created again.
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import pg from "pg";
import type { Host } from "../../../hosts/host.ts";
import { SourceError, type Attempt } from "../source.ts";
import type { Entry } from "./archive.ts";
import { columnsIn, domainsIn, tellLoss, withoutDomain, type Column } from "./column-types.ts";
import { serverVersion, withClient, type Target } from "./connection.ts";
import { findDropped } from "./dropped-tables.ts";
import { completeTables, emptyTables, restoreAside } from "./restore-tables-sql.ts";
import { runScript, type Backup } from "./run-script.ts";
import { lastWords } from "./tools.ts";
import { toError } from "../../../to-error.ts";

type WantedTable = {
  schema: string;
  name: string;
  /** Rows in the backup; null = they were not counted. */
  count: number | null;
  rows: Entry;
};

/**
 * Finds the rows of tables in an archive.
 * @param entries of the archive
 * @param wanted names as `schema.table`
 * @throws SourceError for what is not there, or could be another table
 */
export function findTables(
  entries: readonly Entry[],
  wanted: readonly string[],
  counts: Record<string, number>,
): WantedTable[] {
  const data = entries.filter(({ kind }) => kind === "TABLE DATA");
  return [...new Set(wanted)].map((full) => {
    const found = dotsIn(full).flatMap((dot) => {
      const [schema, name] = [full.slice(0, dot), full.slice(dot + 1)];
      return data
        .filter(({ rest }) => rest.startsWith(`${schema} ${name} `))
        .map((rows) => ({ rows, schema, name }));
    });
    const [one, ...others] = found;
    if (one === undefined)
      throw new SourceError(`Nothing was changed: the backup holds no rows of a table ${full}.`);
    if (others.length > 0)
      throw new SourceError(
        `Nothing was changed: the name ${full} fits several tables of the backup. ${restoreAside}`,
      );
    return { ...one, count: counts[full] ?? null };
  });
}

const dotsIn = (text: string): number[] => [...text.matchAll(/\./g)].map(({ index }) => index);

/** Lists tables, views and everything else that takes the name of a table. */
async function listLive(client: pg.Client): Promise<{ schema: string; name: string }[]> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    "select n.nspname as schema, c.relname as name from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'f')",
  );
  return rows;
}

type LiveColumn = Column & {
  /** Whether the type is an enum, or an array of one. */
  isEnum: boolean;
};

/** @returns the columns of each table, without domains, in the order of `tables`; none for a table that does not exist */
async function listColumns(
  client: pg.Client,
  tables: readonly Pick<WantedTable, "schema" | "name">[],
): Promise<LiveColumn[][]> {
  // With an empty search path, types carry their schemas, as in a dump.
  await client.query("select pg_catalog.set_config('search_path', '', false)");
  const { rows: named } = await client.query<{ name: string; type: string }>(
    "select format_type(oid, null) as name, format_type(typbasetype, typtypmod) as type from pg_type where typtype = 'd'",
  );
  const domains = new Map(named.map(({ name, type }) => [name, type]));
  const found: LiveColumn[][] = [];
  for (const { schema, name } of tables) {
    const { rows } = await client.query<LiveColumn>(
      `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attgenerated <> '' as "isGenerated",
         exists (
           select from pg_type t join pg_type e on e.oid in (t.oid, t.typelem) where t.oid = a.atttypid and e.typtype = 'e'
         ) as "isEnum"
       from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = $1 and c.relname = $2 and a.attnum > 0 and not a.attisdropped`,
      [schema, name],
    );
    found.push(rows.map((one) => ({ ...one, type: withoutDomain(one.type, domains) })));
  }
  return found;
}

/** @returns the columns that a table had when it was backed up, without domains; empty where the archive does not say */
async function readColumns(
  { tools, archive }: Backup,
  entries: readonly Entry[],
  { rows, schema, name }: WantedTable,
  signal: AbortSignal,
): Promise<Column[]> {
  const table = entries.find(
    ({ id, kind, rest }) =>
      kind === "TABLE" && rows.needs.includes(id) && rest.startsWith(`${schema} ${name} `),
  );
  if (table === undefined) return [];
  const output = new PassThrough();
  const written = text(output);
  written.catch(() => undefined);
  const types = entries.filter(({ kind }) => kind === "DOMAIN" || kind === "TYPE");
  const end = await archive.run(
    [table, ...types].map(({ line }) => line),
    {
      argv: [tools.program("pg_restore"), "--schema-only", "--file=-"],
      input: archive.openHead(),
      output,
      signal,
    },
  );
  if (end.exitCode !== 0)
    throw new SourceError(`The backup could not be read: pg_restore says: ${lastWords(end)}`);
  const sql = await written;
  const domains = domainsIn(sql);
  return columnsIn(sql).map((one) => ({ ...one, type: withoutDomain(one.type, domains) }));
}

/** @throws SourceError where a column of the live table cannot hold every value of the backup */
async function refuseLoss(
  backup: Backup,
  table: WantedTable,
  liveColumns: readonly LiveColumn[],
  signal: AbortSignal,
): Promise<void> {
  if (liveColumns.length === 0) return;
  for (const stored of await readColumns(backup, backup.archive.entries(), table, signal)) {
    const live = liveColumns.find(({ name }) => name === stored.name);
    const loss = live === undefined ? null : tellLoss(stored, live);
    if (loss !== null)
      throw new SourceError(
        `Nothing was changed: the column ${stored.name} of ${table.schema}.${table.name} ${loss}. ${restoreAside}`,
      );
  }
}

type RestoreTablesOptions = {
  /** As `schema.table`. */
  wanted: readonly string[];
  /** Number of rows by table, as the backup counted them. */
  counts: Record<string, number>;
  lockWaitMs: number;
  /** Tables that are created again belong to the restoring account instead of their former owner. */
  isWithoutRoles: boolean;
};

/**
 * @param applicationName names the session, so that it can be found and ended
 * @throws SourceError, the archive's own error, or the signal's reason; the database is as it was, unless an abort came after the
 *   commit
 */
export async function restoreTables(
  host: Host,
  target: Target,
  applicationName: string,
  backup: Backup,
  { say, signal }: Attempt,
  { wanted, counts, lockWaitMs, isWithoutRoles }: RestoreTablesOptions,
): Promise<void> {
  const { archive } = backup;
  const entries = archive.entries();
  const tables = findTables(entries, wanted, counts);
  const { version, live, columns } = await withClient(
    target,
    { applicationName, signal },
    async (client) => ({
      version: await serverVersion(client),
      live: await listLive(client),
      columns: await listColumns(client, tables),
    }),
  );
  for (const [index, table] of tables.entries())
    await refuseLoss(backup, table, columns[index] ?? [], signal);
  const isLive = ({ schema, name }: WantedTable) =>
    live.some((one) => one.schema === schema && one.name === name);
  const gone = tables.filter((table) => !isLive(table));
  const { made, leftOut } = findDropped(entries, gone, live);
  for (const { schema, name } of gone) say(`Creating ${schema}.${name}, which is not there.`);
  leftOut.forEach(say);
  const literal = (some: readonly WantedTable[]) => {
    const plain = some.map(({ schema, name, count }) => ({ schema, name, rows: count }));
    return `${pg.escapeLiteral(JSON.stringify(plain))}::jsonb`;
  };
  const spaces = isWithoutRoles ? [] : gone.map(({ schema }) => pg.escapeLiteral(schema));
  const schemas = `array[${spaces.join(", ")}]::text[]`;
  const rows = new Set(tables.map((table) => table.rows));
  await runScript(
    { host, backup, target, applicationName, lockWaitMs, isRehearsal: false },
    {
      start: emptyTables(literal(tables.filter(isLive)), schemas, lockWaitMs),
      input: archive.stream,
      // In the order of the archive, which is read once.
      list: entries.filter((entry) => rows.has(entry) || made.has(entry)).map(({ line }) => line),
      more: isWithoutRoles ? ["--no-owner", "--no-privileges"] : [],
      end: completeTables(literal(tables)),
      serverMajor: version.major,
    },
    { say, signal },
  ).catch(async (error: unknown) => {
    const taken = /relation "(.+)" already exists/.exec(toError(error).message)?.[1];
    if (taken === undefined || gone.length === 0) throw error;
    const schemas = gone.map(({ schema }) => schema);
    const cure = await withClient(target, { applicationName, signal }, (client) =>
      explainTakenName(client, taken, schemas),
    ).catch(() => null);
    throw cure === null ? error : new SourceError(`${toError(error).message}. ${cure}`);
  });
}

/**
 * Explains why a name is taken: a table that was renamed keeps the names of its indexes and sequences.
 * @param schemas of the tables that are created again
 * @returns what to do; null where the name belongs to no table
 */
async function explainTakenName(
  client: pg.Client,
  name: string,
  schemas: readonly string[],
): Promise<string | null> {
  const { rows } = await client.query<{ kind: string; place: string; owner: string }>(
    `select case c.relkind when 'i' then 'INDEX' when 'S' then 'SEQUENCE' end as kind,
       format('%I.%I', n.nspname, c.relname) as place, coalesce(i.indrelid, d.refobjid)::regclass::text as owner
     from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_index i on i.indexrelid = c.oid
       left join pg_depend d on c.relkind = 'S' and d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')
     where c.relname = $1 and n.nspname = any($2) and c.relkind in ('i', 'S') and coalesce(i.indrelid, d.refobjid) is not null`,
    [name, schemas],
  );
  const [first] = rows;
  return first === undefined
    ? null
    : `It belongs to the table ${first.owner}. Rename it, and all others of that table that have kept their names, then restore again: ALTER ${first.kind} ${first.place} RENAME TO …;`;
}
