// Counts the rows of each table and computes their checksums, which a drill compares.
import type pg from "pg";
import { countOf, countText } from "../../../../contract/count-text.ts";
import { serverVersion } from "./connection.ts";
import type { Checksums } from "../source.ts";

type Counts = Record<string, number>;

const largeObjects = "large objects";

type Table = {
  name: string;
  quoted: string;
  /** Quoted, sorted by name, because a restored table may have another order. */
  columns: string[];
  /** For each column: whether a cast to text gives the same as `concat`. */
  castable: boolean[];
  /** Whether an index or statistics have expressions: the planner may inline functions that they call. */
  hasExpressions: boolean;
};

const castTypes = ["text", "varchar", "int2", "int4", "int8", "uuid"];

/**
 * Lists the tables whose rows are in a dump: ordinary ones, including partitions. Tables of an extension are left out, because
 * the extension creates them, not the dump.
 */
export async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select n.nspname || '.' || c.relname as name, format('%I.%I', n.nspname, c.relname) as quoted,
      array(
        select quote_ident(attname) from pg_catalog.pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped
        order by attname collate "C"
      ) as columns,
      array(
        select atttypid in (${castTypes.map((type) => `'pg_catalog.${type}'::regtype`).join(", ")}) from pg_catalog.pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped
        order by attname collate "C"
      ) as castable,
      exists (
        select from pg_catalog.pg_index where indrelid = c.oid and (indexprs is not null or indpred is not null)
      ) or exists (
        select from pg_catalog.pg_statistic_ext e where stxrelid = c.oid and pg_catalog.to_jsonb(e) ->> 'stxexprs' is not null
      ) as "hasExpressions"
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and c.relpersistence <> 't'
      and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
      and not exists (
        select from pg_catalog.pg_depend d
        where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
      )
    order by 1`);
  return rows;
}

/** Settings by which equal values become equal texts, whatever is set for the account or the database. */
const plainText = `
  set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres'; set timezone = 'UTC';
  set bytea_output = 'hex'; set extra_float_digits = 1; set lc_monetary = 'C'`;

/** First major version with a function for 64-bit hashes of texts. */
const firstWithChecksums = 11;

/** INV_READ of libpq/libpq-fs.h. */
const readOnly = 0x40000;

/** Bytes of a large object that are read at once. */
const stepBytes = 1024 * 1024;

/** SQL for a 64-bit hash of a text. */
const hashOf = (text: string, seed = "0") =>
  `pg_catalog.hashtextextended((${text}) collate "C", ${seed})`;

/** Columns whose hashes are nested: a table may have 1,600, more nested calls than the server's stack may allow. */
const columnsAtOnce = 50;

/**
 * SQL for a 64-bit hash of a row: the hash of each column is seeded with that of the previous one, and a null's differs from an
 * empty text's. Hashing the row as one text would do as well, but took the server four times as long.
 */
function rowHash({ columns, castable }: Pick<Table, "columns" | "castable">): string {
  const isCast = new Set(columns.filter((_, at) => castable[at]));
  const hashes: string[] = [];
  for (let from = 0; from < columns.length; from += columnsAtOnce)
    hashes.push(
      columns.slice(from, from + columnsAtOnce).reduce(
        (seed, column) =>
          // Gives the same as `concat`, without a function call.
          isCast.has(column)
            ? hashOf(
                `coalesce(${column}::pg_catalog.text, '')`,
                `${seed} # case when ${column} is null then 1::bigint else 0::bigint end`,
              )
            : hashOf(`pg_catalog.concat(${column})`, `${seed} # pg_catalog.num_nulls(${column})`),
        "0::bigint",
      ),
    );
  const [only = "0", ...others] = hashes;
  return others.length === 0 ? only : hashOf(`pg_catalog.concat_ws(' ', ${hashes.join(", ")})`);
}

/** Counts the rows and sums up their hashes, so that their order does not matter. Changes settings of the session. */
export async function countRows(
  client: pg.Client,
  tables: Table[],
): Promise<{ tables: Counts; checksums?: Checksums }> {
  const { rows: paths } = await client.query<{ own: string }>(
    "select pg_catalog.current_setting('search_path') as own",
  );
  const { own = "" } = paths[0] ?? {};
  await client.query(plainText);
  let path: string | null = null;
  const findBy = async (wanted: string) => {
    if (path === wanted) return;
    path = wanted;
    await client.query("select pg_catalog.set_config('search_path', $1, false)", [wanted]);
  };
  const { major } = await serverVersion(client);
  const hasChecksums = major >= firstWithChecksums;
  const counts: Counts = {};
  const sums: Record<string, string> = {};
  const count = async (name: string, hash: string, from: string) => {
    const sum = hasChecksums ? `coalesce(sum(${hash}), 0)::text` : "''";
    const { rows } = await client.query<{ count: string; sum: string }>(
      `select count(*) as count, ${sum} as sum from ${from}`,
    );
    sums[name] = rows[0]?.sum ?? "";
    return (counts[name] = Number(rows[0]?.count));
  };
  // `only`, because rows of inheriting tables are counted with those tables.
  for (const table of tables) {
    // With the database's own search path, functions of expressions find what they name without a schema.
    await findBy(table.hasExpressions ? own : "");
    await count(table.name, rowHash(table), `only ${table.quoted}`);
  }
  await findBy("");
  const objects = await count(
    largeObjects,
    hashOf(`oid::text || ' ' || coalesce((
      select string_agg(${hashOf(`encode(lo_get(oid, at, ${stepBytes}), 'hex')`)}::text, ' ' order by at)
      from generate_series(0, (
        select lo_lseek64(fd, 0, 2) + lo_close(fd) from (select lo_open(oid, ${readOnly}) as fd offset 0) as opened
      ) - 1, ${stepBytes}) as at
    ), '')`),
    "pg_catalog.pg_largeobject_metadata",
  );
  if (objects === 0) {
    delete counts[largeObjects];
    delete sums[largeObjects];
  }
  return hasChecksums
    ? { tables: counts, checksums: { by: `PostgreSQL ${major}, by columns`, tables: sums } }
    : { tables: counts };
}

/** E.g. "12 tables with 48,211 rows and 3 large objects". */
export function tellCounts(counts: Counts): string {
  const { [largeObjects]: objects = 0, ...tables } = counts;
  const rows = Object.values(tables).reduce((sum, count) => sum + count, 0);
  const counted = `${countOf(Object.keys(tables).length, "table")} with ${countOf(rows, "row")}`;
  return objects === 0 ? counted : `${counted} and ${countOf(objects, "large object")}`;
}

/** Returns the differences as text; empty where there are none. */
export function compareCounts(expected: Counts, found: Counts): string[] {
  const names = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...names].sort().flatMap((name) => {
    const was = expected[name];
    const is = found[name];
    if (was === is) return [];
    if (is === undefined) return [`${name} is missing`];
    if (was === undefined) return [`${name} was not in the database`];
    return [`${name} has ${countText(is)} instead of ${countOf(was, "row")}`];
  });
}
