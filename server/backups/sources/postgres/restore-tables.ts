// Puts single tables of an archive back into a live database, in one transaction: their rows are replaced, and everything
// around them is held against the new rows again, or nothing is changed. What was dropped is made anew.
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import pg from "pg";
import type { Host } from "../../../hosts/host.ts";
import { SourceError, type Attempt } from "../source.ts";
import type { Entry } from "./archive.ts";
import { columnsIn, tellLoss, type Column } from "./column-types.ts";
import { serverVersion, withClient, type Target } from "./connection.ts";
import { findDropped } from "./dropped-tables.ts";
import { beginning, ownSearchPath } from "./prologue.ts";
import { archiveSql, withFittingSettings } from "./archive-sql.ts";
import { runScript, type Backup } from "./restore.ts";
import { lastWords } from "./tools.ts";
import { toError } from "../../../to-error.ts";

type WantedTable = {
  schema: string;
  name: string;
  /** As the backup counted them; null = it did not. */
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
        `Nothing was changed: the name ${full} fits several tables of the backup. Restore the backup into a new database, and copy the table from there.`,
      );
    return { ...one, count: counts[full] ?? null };
  });
}

const dotsIn = (text: string): number[] => [...text.matchAll(/\./g)].map(({ index }) => index);

const whole = "Restore the backup into a new database, and copy the table from there.";

/**
 * Locks the tables, takes aside what would look at single rows (foreign keys from and to them, triggers), and empties them. The
 * statements that put it back are kept in a setting of the transaction: a temporary table takes a right that not everybody has.
 */
const before = (tables: string, lockWaitMs: number): string => `
${beginning(lockWaitMs)}
set local client_encoding = 'UTF8';
do ${pg.escapeLiteral(`
declare
  item record;
  one record;
  id oid;
  ids oid[] := '{}';
  places text[] := '{}';
  later text[] := '{}';
begin
  for item in select * from jsonb_to_recordset(${tables}) as x(schema text, name text) order by 1, 2 loop
    id := to_regclass(format('%I.%I', item.schema, item.name));
    if id is null then
      raise exception 'the table %.% is not there any more. ${whole}', item.schema, item.name;
    end if;
    select relkind, relispartition, relowner into one from pg_class where oid = id;
    if one.relkind <> 'r' then
      raise exception '%.% is no ordinary table any more. ${whole}', item.schema, item.name;
    end if;
    if one.relispartition or exists (select from pg_inherits where inhrelid = id or inhparent = id) then
      raise exception '%.% shares its rows with another table, by partitions or inheritance. ${whole}', item.schema, item.name;
    end if;
    if not pg_has_role(one.relowner, 'usage') then
      raise exception 'the account does not own %.%. Restore as its owner or as a superuser.', item.schema, item.name;
    end if;
    execute format('lock table only %I.%I in access exclusive mode', item.schema, item.name);
    ids := ids || id;
    places := places || format('%I.%I', item.schema, item.name);
  end loop;

  for one in
    select c.conname, c.conparentid, r.relkind, r.relispartition, pg_has_role(r.relowner, 'usage') as owned,
      format('%I.%I', n.nspname, r.relname) as place, pg_get_constraintdef(c.oid) as definition,
      obj_description(c.oid, 'pg_constraint') as note
    from pg_constraint c join pg_class r on r.oid = c.conrelid join pg_namespace n on n.oid = r.relnamespace
    where c.contype = 'f' and (c.conrelid = any(ids) or c.confrelid = any(ids)) order by c.oid
  loop
    if one.conparentid <> 0 or one.relkind = 'p' or one.relispartition then
      raise exception 'the partitioned table % has a foreign key to it. ${whole}', one.place;
    end if;
    if not one.owned then
      raise exception 'the account does not own %, which has a foreign key to it. Restore as a superuser.', one.place;
    end if;
    execute format('alter table only %s drop constraint %I', one.place, one.conname);
    later := later || format('alter table only %s add constraint %I %s', one.place, one.conname, one.definition);
    if one.note is not null then
      later := later || format('comment on constraint %I on %s is %L', one.conname, one.place, one.note);
    end if;
  end loop;

  for one in
    select t.tgname, format('%I.%I', n.nspname, r.relname) as place,
      case t.tgenabled when 'A' then 'enable always' when 'R' then 'enable replica' else 'enable' end as enabled
    from pg_trigger t join pg_class r on r.oid = t.tgrelid join pg_namespace n on n.oid = r.relnamespace
    where t.tgrelid = any(ids) and not t.tgisinternal and t.tgenabled <> 'D'
  loop
    execute format('alter table %s disable trigger %I', one.place, one.tgname);
    later := later || format('alter table %s %s trigger %I', one.place, one.enabled, one.tgname);
  end loop;

  perform ${ownSearchPath()};
  if cardinality(places) > 0 then execute 'truncate only ' || array_to_string(places, ', only '); end if;
  perform set_config('quarterdeck.later', to_json(later)::text, true);
end`)};
`;

/** Counts the rows, puts back what was taken aside, and moves sequences on where the rows are ahead of them. */
const after = (tables: string): string => `
set local client_encoding = 'UTF8';
select ${ownSearchPath()};
do ${pg.escapeLiteral(`
declare
  item record;
  one record;
  counted bigint;
  latest numeric;
  called boolean;
  statement text;
begin
  for item in select * from jsonb_to_recordset(${tables}) as x(schema text, name text, rows bigint) loop
    execute format('select count(*) from only %I.%I', item.schema, item.name) into counted;
    if counted <> item.rows then
      raise exception '%.% has % rows instead of % that the backup counted.', item.schema, item.name, counted, item.rows;
    end if;
  end loop;
  for statement in select value from json_array_elements_text(current_setting('quarterdeck.later')::json) loop
    execute statement;
  end loop;
  -- Last, because what a sequence is set to stays, even if everything else is undone.
  for item in select * from jsonb_to_recordset(${tables}) as x(schema text, name text) loop
    for one in
      select q.*, format('%I.%I', n.nspname, s.relname) as place, a.attname,
        has_sequence_privilege(s.oid, 'select') and has_sequence_privilege(s.oid, 'update') as may
      from pg_attribute a
        join pg_class s on s.relkind = 'S' and (exists (
          select from pg_depend d
          where d.classid = 'pg_class'::regclass and d.objid = s.oid and d.refclassid = 'pg_class'::regclass
            and d.refobjid = a.attrelid and d.refobjsubid = a.attnum and d.deptype in ('a', 'i')
        ) or exists (
          select from pg_attrdef f join pg_depend d on d.classid = 'pg_attrdef'::regclass and d.objid = f.oid
          where f.adrelid = a.attrelid and f.adnum = a.attnum and d.refclassid = 'pg_class'::regclass and d.refobjid = s.oid
            and pg_get_expr(f.adbin, f.adrelid) like 'nextval(%::regclass)'
        ))
        join pg_namespace n on n.oid = s.relnamespace
        join pg_sequence q on q.seqrelid = s.oid
      where a.attrelid = to_regclass(format('%I.%I', item.schema, item.name))
        and a.attnum > 0 and a.atttypid in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype)
    loop
      if not one.may then
        raise warning 'the sequence % is left as it is, because the account may not change it', one.place;
        continue;
      end if;
      -- It gives no number beyond its bounds.
      execute format('select %s(%I) from only %I.%I where %I between %s and %s', case when one.seqincrement > 0 then 'max' else 'min' end,
        one.attname, item.schema, item.name, one.attname, one.seqmin, one.seqmax) into latest;
      execute format('select last_value, is_called from %s', one.place) into counted, called;
      if (latest - counted) * sign(one.seqincrement) > 0 or latest = counted and not called then
        perform setval(one.seqrelid::regclass, latest::bigint);
      end if;
    end loop;
  end loop;
end`)};
commit;
`;

/** Whatever has a name that a table could have. */
async function listLive(client: pg.Client): Promise<{ schema: string; name: string }[]> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    "select n.nspname as schema, c.relname as name from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'f')",
  );
  return rows;
}

/** Columns of tables, in the tables' order. */
async function listColumns(
  client: pg.Client,
  tables: readonly Pick<WantedTable, "schema" | "name">[],
): Promise<Column[][]> {
  // Types are named with their schemas, as in a dump.
  await client.query("select pg_catalog.set_config('search_path', '', false)");
  const found: Column[][] = [];
  for (const { schema, name } of tables) {
    const { rows } = await client.query<Column>(
      `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attgenerated <> '' as "isGenerated"
       from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = $1 and c.relname = $2 and a.attnum > 0 and not a.attisdropped`,
      [schema, name],
    );
    found.push(rows);
  }
  return found;
}

/** The columns that a table had. */
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
  const end = await archive.run([table.line], {
    argv: [tools.program("pg_restore"), "--schema-only", "--file=-"],
    input: archive.openHead(),
    output,
    signal,
  });
  if (end.exitCode !== 0)
    throw new SourceError(`The backup could not be read: pg_restore says: ${lastWords(end)}`);
  return columnsIn(await written);
}

type RestoreTablesOptions = {
  /** As `schema.table`. */
  wanted: readonly string[];
  /** Rows by table, as the backup counted them. */
  counts: Record<string, number>;
  lockWaitMs: number;
  /** What is made anew belongs to the account, whomever it belonged to. */
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
  const { tools, archive } = backup;
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
  for (const [at, table] of tables.entries()) {
    const now = columns[at] ?? [];
    if (now.length === 0) continue;
    for (const was of await readColumns(backup, entries, table, signal)) {
      const is = now.find((one) => one.name === was.name);
      const loss = is === undefined ? null : tellLoss(was, is);
      if (loss !== null)
        throw new SourceError(
          `Nothing was changed: the column ${was.name} of ${table.schema}.${table.name} ${loss}. ${whole}`,
        );
    }
  }
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
  const rows = new Set(tables.map((table) => table.rows));
  const sql = withFittingSettings(
    archiveSql({
      archive,
      tools,
      input: archive.stream,
      // In the archive's own order: its pieces come by once.
      list: entries.filter((entry) => rows.has(entry) || made.has(entry)).map(({ line }) => line),
      more: isWithoutRoles ? ["--no-owner", "--no-privileges"] : [],
      isWithinOurs: true,
      signal,
    }),
    version.major,
  );
  const start = before(literal(tables.filter(isLive)), lockWaitMs);
  await runScript(
    { host, backup, target, applicationName, lockWaitMs, isRehearsal: false },
    { start, sql, end: after(literal(tables)) },
    { say, signal },
  ).catch(async (error: unknown) => {
    const taken = /relation "(.+)" already exists/.exec(toError(error).message)?.[1];
    if (taken === undefined || gone.length === 0) throw error;
    const schemas = gone.map(({ schema }) => schema);
    const found = await withClient(target, { applicationName, signal }, (client) =>
      findTaken(client, taken, schemas),
    ).catch(() => null);
    throw found === null ? error : new SourceError(`${toError(error).message}. ${found}`);
  });
}

/** Whoever renames a table to get the old one beside it leaves its indexes and sequences their names. @returns what to do; null = nobody knows */
async function findTaken(
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
