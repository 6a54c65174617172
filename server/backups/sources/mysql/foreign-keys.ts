// Foreign keys of other databases that point into one: they would follow the tables that a restore moves away.
import { quoteText, type createMysqlClient } from "./client.ts";

/** @returns a sentence, or null where there are none. Scratch databases of restores do not count. */
export async function tellForeignReferences(
  client: Pick<ReturnType<typeof createMysqlClient>, "query">,
  database: string,
  signal: AbortSignal,
): Promise<string | null> {
  const rows = await client.query(
    `SELECT DISTINCT CONSTRAINT_SCHEMA, TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE UNIQUE_CONSTRAINT_SCHEMA = ${quoteText(database)} AND CONSTRAINT_SCHEMA <> ${quoteText(database)} AND CONSTRAINT_SCHEMA NOT LIKE 'quarterdeck\\_%'`,
    { signal },
  );
  return rows.length === 0
    ? null
    : `Foreign keys of other databases point into ${database} and would follow its old tables: ${rows.map((row) => row.join(".")).join(", ")}. Drop them, restore, and make them again.`;
}
