// Rows as every store reads them: a page of a list, and the row of an insert.
import { rangeOf, type PageRequest } from "../../contract/paging.ts";

/** A query whose rows can still be limited. */
type Limitable<Row> = { limit(limit: number): { offset(offset: number): PromiseLike<Row[]> } };

/**
 * Reads one page of a query's rows.
 * @param total the number of all its rows, e.g. by `$count`
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

/** The row of an insert that has neither a conflict clause nor a condition, and so always returns one. */
export function insertedRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error("An insert returned no row.");
  return row;
}
