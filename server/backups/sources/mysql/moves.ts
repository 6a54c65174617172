// SQL that exchanges tables by one RENAME, and corrects what that leaves behind.
import { quoteName, quoteText, type MysqlClient } from "./client.ts";
import { markerTable, type Names } from "./plan.ts";

export const move = (from: string, to: string) => (table: string) =>
  `${quoteName(from)}.${quoteName(table)} TO ${quoteName(to)}.${quoteName(table)}`;

/** In a comment that the server executes: truncated by a kill, it is a syntax error instead of a shorter list of tables. */
export const renameAll = (moves: readonly string[]) =>
  `/*!40000 RENAME TABLE ${moves.join(", ")} */;\n`;

/** Returns the database that has the marker table; null where none has it. */
export async function markerPlace(
  client: MysqlClient,
  { fresh, old }: Pick<Names, "fresh" | "old">,
  signal: AbortSignal,
): Promise<string | null> {
  const [row] = await client.query(
    `SELECT TABLE_SCHEMA FROM information_schema.TABLES WHERE TABLE_NAME = '${markerTable}' AND TABLE_SCHEMA IN (${quoteText(fresh)}, ${quoteText(old)})`,
    { signal },
  );
  return row?.[0] ?? null;
}

/**
 * Returns SQL that corrects defaults with a sequence: MariaDB stores the sequence's database in the default, and RENAME does not
 * change it. Views are left out, because they only show the defaults of their tables.
 */
export async function sequenceDefaults(
  client: MysqlClient,
  { fresh, target }: { fresh: string; target: string },
  signal: AbortSignal,
): Promise<string> {
  const rows = await client.query(
    `SELECT TABLE_NAME, COLUMN_NAME, COLUMN_DEFAULT FROM information_schema.COLUMNS JOIN information_schema.TABLES USING (TABLE_SCHEMA, TABLE_NAME) WHERE TABLE_SCHEMA = ${quoteText(fresh)} AND TABLE_TYPE NOT LIKE '%VIEW' AND COLUMN_DEFAULT LIKE '%val(%'`,
    { signal },
  );
  // One statement per table, which cannot be opened while one of its defaults uses a sequence that is gone.
  const changes = new Map<string, string[]>();
  for (const [table = "", column = "", value = ""] of rows) {
    const right = value.replaceAll(`val(${quoteName(fresh)}.`, `val(${quoteName(target)}.`);
    const change = `ALTER COLUMN ${quoteName(column)} SET DEFAULT (${right})`;
    changes.set(table, [...(changes.get(table) ?? []), change]);
  }
  const statements = [...changes].map(
    ([table, all]) => `ALTER TABLE ${quoteName(table)} ${all.join(", ")};\n`,
  );
  return Buffer.from(statements.join("")).toString("latin1");
}
