// How many rows a database has, table by table: what a drill compares.
import type pg from "pg";

export type Counts = Record<string, number>;

export const largeObjects = "large objects";

type Table = { name: string; quoted: string };

/**
 * Every table whose rows are in a dump: ordinary ones, also those of a partitioned table. What belongs to an extension
 * comes with it and not from the dump.
 */
export async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select n.nspname || '.' || c.relname as name, format('%I.%I', n.nspname, c.relname) as quoted
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

export async function countRows(client: pg.Client, tables: Table[]): Promise<Counts> {
  const counts: Counts = {};
  const count = async (name: string, from: string) => {
    const { rows } = await client.query<{ count: string }>(`select count(*) as count from ${from}`);
    return (counts[name] = Number(rows[0]?.count));
  };
  // `only`: the rows of tables that inherit are counted there.
  for (const { name, quoted } of tables) await count(name, `only ${quoted}`);
  if ((await count(largeObjects, "pg_catalog.pg_largeobject_metadata")) === 0)
    delete counts[largeObjects];
  return counts;
}

/** E.g. "12 tables with 48,211 rows and 3 large objects". */
export function tellCounts(counts: Counts): string {
  const { [largeObjects]: objects = 0, ...tables } = counts;
  const rows = Object.values(tables).reduce((sum, count) => sum + count, 0);
  const told = `${many(Object.keys(tables).length, "table")} with ${many(rows, "row")}`;
  return objects === 0 ? told : `${told} and ${many(objects, "large object")}`;
}

/** What differs, in words; empty when nothing does. */
export function compareCounts(expected: Counts, found: Counts): string[] {
  const names = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...names].sort().flatMap((name) => {
    const was = expected[name];
    const is = found[name];
    if (was === is) return [];
    if (is === undefined) return [`${name} is missing`];
    if (was === undefined) return [`${name} was not in the database`];
    return [`${name} has ${is.toLocaleString("en-US")} instead of ${many(was, "row")}`];
  });
}

const many = (count: number, word: string): string =>
  `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
