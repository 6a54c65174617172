// Reads one page of a table's rows: in the list's own order, or filtered, searched and sorted, with their number by status. Takes
// two queries in either case, however many rows there are.
import { rangeOf, type PageRequest } from "../../contract/paging.ts";
import { byAttention, type Filters, type Wanted } from "../http/list-filters.ts";
import type { Database } from "./database.ts";
import { and, asc, desc, inArray, type PgColumn, type PgTable, type SQL, sql } from "./drizzle.ts";
import { readRows } from "./rows.ts";

/** Request of one page of a list that can be filtered. */
export type ListRequest = PageRequest & {
  /** Null or omitted = all rows, in the list's own order. */
  wanted?: Wanted | null;
};

/** A page of rows; `counts` is set for filtered requests. */
export type Rows<Row> = {
  rows: Row[];
  total: number;
  counts?: Record<string, number> | undefined;
};

/** Maps the names of a list's filters to its table. */
type Source<Status extends string, Sort extends string> = {
  id: PgColumn;
  /** Whether the list's own order is descending by id; default true. */
  isNewestFirst?: boolean;
  /** Expressions that are searched, joined to one text. */
  search: readonly (PgColumn | SQL)[];
  status: [Status] extends [never] ? null : SQL<string>;
  /** Columns by name of the sort; `id` and `attention` are built in. */
  sorts: Record<Exclude<Sort, "id" | typeof byAttention>, PgColumn | SQL>;
};

/** Returns a pattern for `like`, with its two wildcards and the escape character escaped. */
const patternOf = (word: string) => `%${word.replace(/[\\%_]/g, String.raw`\$&`)}%`;

/** Returns the rank of a status in the order of attention. */
function attentionOf(status: SQL<string>, { statuses }: Filters): SQL {
  const all = Object.entries(statuses);
  const wrong = all.filter(([, urgency]) => urgency === "wrong").map(([name]) => name);
  const places = all.map(([name, urgency]) => {
    const place =
      urgency === "wrong" ? wrong.indexOf(name) : wrong.length + (urgency === "moving" ? 0 : 1);
    return sql`when ${name} then ${sql.raw(String(place))}`;
  });
  return sql`case ${status} ${sql.join(places, sql` `)} end`;
}

/** Returns a function that reads a page of the table's rows in a scope. */
export function createFilteredRows<
  Table extends PgTable,
  Status extends string,
  const Sort extends string,
>(db: Database, table: Table, filters: Filters<Status, Sort>, source: Source<Status, Sort>) {
  type Row = Table["$inferSelect"];
  const { id, isNewestFirst = true, search } = source;
  const status: SQL<string> | null = source.status;
  const ownOrder = isNewestFirst ? desc(id) : asc(id);
  const text = sql`concat_ws(' ', ${sql.join([...search], sql`, `)})`;
  const sorts: Partial<Record<string, PgColumn | SQL>> = {
    ...source.sorts,
    id,
    ...(status !== null && { [byAttention]: attentionOf(status, filters) }),
  };
  const known = Object.keys(filters.statuses);

  function orderOf(sort: Wanted["sort"]): SQL[] {
    const order = sort === null ? undefined : sorts[sort.name];
    if (order === undefined) return [ownOrder];
    return [sql`${order} ${sql.raw(sort?.isDescending ? "desc" : "asc")} nulls last`, ownOrder];
  }

  // The query builder's overloads do not accept a generic table.
  const anyTable: PgTable = table;
  const select = (condition: SQL | undefined, order: SQL[]) =>
    db
      .select()
      .from(anyTable)
      .where(condition)
      // A select of all columns returns the table's rows.
      .orderBy(...order) as unknown as Parameters<typeof readRows<Row>>[0];

  /** Number of rows by status. */
  async function countBy(condition: SQL | undefined): Promise<Map<string, number>> {
    // Drizzle's own select would remove the tables' names from the columns, which a status may need.
    const { rows } = await db.execute<{ status: string; many: number }>(sql`
      select ${status ?? sql`'all'`} as status, count(*)::int as many from ${table}
      where ${condition ?? sql`true`} group by 1`);
    return new Map(rows.map((row) => [row.status, row.many]));
  }

  return async (scope: SQL | undefined, { wanted, ...page }: ListRequest): Promise<Rows<Row>> => {
    if (!wanted) return readRows(select(scope, [ownOrder]), db.$count(table, scope), page);
    const { words, statuses, sort } = wanted;
    const found = and(scope, ...words.map((word) => sql`${text} ilike ${patternOf(word)}`));
    const isWanted =
      status === null || statuses.length === 0 ? found : and(found, inArray(status, [...statuses]));
    const { limit, offset } = rangeOf(page);
    const [rows, many] = await Promise.all([
      select(isWanted, orderOf(sort)).limit(limit).offset(offset),
      countBy(found),
    ]);
    const sum = (names: readonly string[]) =>
      names.reduce((total, name) => total + (many.get(name) ?? 0), 0);
    const all = sum(status === null ? ["all"] : known);
    return {
      rows,
      total: statuses.length === 0 ? all : sum(statuses),
      counts: { all, ...Object.fromEntries(known.map((name) => [name, sum([name])])) },
    };
  };
}
