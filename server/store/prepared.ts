// Statements that each connection parses and plans once. For a large one that is as much work as to execute it. With `DATABASE_URL`
// statements have no names, since a pooler may stand before the database, and are planned each time.
import { createHash } from "node:crypto";
import type pg from "pg";
import type { Database } from "./database.ts";
import { PgDialect, type SQL } from "./drizzle.ts";

const dialect = new PgDialect();

/**
 * Moments come as `Date`, not as Drizzle reads them.
 * @param name of all its shapes: each connection keeps the plan of each, so there should be a few
 */
export async function executePrepared<Row extends pg.QueryResultRow>(
  db: Pick<Database, "$client">,
  name: string,
  statement: SQL,
): Promise<Row[]> {
  const { sql: text, params } = dialect.sqlToQuery(statement);
  const shape = createHash("sha1").update(text).digest("hex").slice(0, 12);
  const { rows } = await db.$client.query<Row>({ name: `${name}_${shape}`, text, values: params });
  return rows;
}
