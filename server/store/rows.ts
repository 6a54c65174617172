// Reads pages of lists, and inserts rows.
import type { PgTable } from "drizzle-orm/pg-core";
import { rangeOf, type PageRequest } from "../../contract/paging.ts";
import type { Connection } from "./database.ts";
import { sql } from "./drizzle.ts";
import { storableJson } from "./storable.ts";

/** A query that can still be limited. */
type Limitable<Row> = { limit(limit: number): { offset(offset: number): PromiseLike<Row[]> } };

/**
 * Reads one page of a query's rows.
 * @param total number of all rows of the query, for example by `$count`
 */
export async function readRows<Row>(
  query: Limitable<Row>,
  total: PromiseLike<number>,
  page: PageRequest,
): Promise<{ rows: Row[]; total: number }> {
  const { limit, offset } = rangeOf(page);
  const [rows, count] = await Promise.all([query.limit(limit).offset(offset), total]);
  return { rows, total: count };
}

/** Returns the row of an insert without a conflict clause or a condition, which always returns one. */
export function insertedRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error("An insert returned no row.");
  return row;
}

/**
 * Inserts any number of rows with the same columns as one JSON parameter. Drizzle builds a parameter for each cell, which takes
 * longer than the insert itself, and a statement is limited to 65,535 of them.
 */
export async function insertRows<Table extends PgTable>(
  tx: Connection,
  table: Table,
  rows: readonly Table["$inferInsert"][],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = sql.join(Object.keys(first).map(sql.identifier), sql`, `);
  await tx.execute(sql`
    insert into ${table} (${columns})
    select ${columns} from json_populate_recordset(null::${table}, ${storableJson(rows)}::json)`);
}
