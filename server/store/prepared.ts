// Prepared statements, which each connection parses and plans once: for a large statement that takes as long as its execution.
// With `DATABASE_URL` statements have no names, because a pooler may be in between, and are planned each time.
import { createHash } from "node:crypto";
import type pg from "pg";
import type { Database } from "./database.ts";
import { PgDialect, type SQL } from "./drizzle.ts";

const dialect = new PgDialect();

/**
 * Runs a prepared statement. Timestamps are returned as `Date`, not as Drizzle maps them.
 * @param name shared by all variants of the statement's text. Each connection keeps a plan for each variant, so there should be
 * few
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
