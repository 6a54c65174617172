// Counts the present rows of a MySQL or MariaDB database, before a restore replaces them.
import { quoteName, quoteText, type MysqlClient } from "./client.ts";

/** Limits each statement to 20 seconds, because a person waits for the result. Each server executes one of the two comments. */
const limits =
  "/*!80000 SET SESSION max_execution_time=20000 */;\n/*M!100100 SET SESSION max_statement_time=20 */;\n";

/** @returns rows by table; null where the database does not exist. @throws SourceError, also where a table takes too long */
export async function countRowsNow(
  client: MysqlClient,
  signal: AbortSignal,
): Promise<Record<string, number> | null> {
  const { database } = client.place;
  const shown = quoteText(database);
  const schemas = await client.query(
    `SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ${shown}`,
    { signal },
  );
  if (schemas.length === 0) return null;
  // In hex, because a name may contain a line end.
  const listed = await client.query(
    `SELECT HEX(CONVERT(TABLE_NAME USING utf8mb4)) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${shown} AND TABLE_TYPE NOT IN ('VIEW', 'SYSTEM VIEW', 'SEQUENCE')`,
    { signal },
  );
  const names = listed.map(([hex = ""]) => Buffer.from(hex, "hex").toString());
  if (names.length === 0) return {};
  const counts = names.map(
    (name) => `SELECT COUNT(*) FROM ${quoteName(database)}.${quoteName(name)}`,
  );
  const rows = await client.query(`${limits}${counts.join(";\n")}`, { signal });
  return Object.fromEntries(names.map((name, index) => [name, Number(rows[index]?.[0])]));
}
