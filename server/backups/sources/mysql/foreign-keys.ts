// Handles foreign keys of tables that a restore moves: InnoDB's refer to database and table, and follow a table that is renamed.
import { quoteName, quoteText, type MysqlClient } from "./client.ts";

/**
 * @param tables the tables that are moved; null = all
 * @param together databases whose tables are moved with them
 * @returns a sentence where foreign keys of other databases refer to this one, or null. Scratch databases of restores are ignored.
 */
export async function tellForeignReferences(
  client: Pick<MysqlClient, "query">,
  database: string,
  signal: AbortSignal,
  tables: readonly string[] | null = null,
  together: readonly string[] = [],
): Promise<string | null> {
  const moved =
    tables === null ? "" : ` AND REFERENCED_TABLE_NAME IN (${tables.map(quoteText).join(", ")})`;
  const found = await client.query(
    `SELECT DISTINCT CONSTRAINT_SCHEMA, TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE UNIQUE_CONSTRAINT_SCHEMA = ${quoteText(database)} AND CONSTRAINT_SCHEMA <> ${quoteText(database)} AND CONSTRAINT_SCHEMA NOT LIKE 'quarterdeck\\_%'${moved}`,
    { signal },
  );
  const rows = found.filter(([other = ""]) => !together.includes(other));
  return rows.length === 0
    ? null
    : `Foreign keys of other databases point into ${database} and would follow its old tables: ${rows.map((row) => row.join(".")).join(", ")}. Drop them, restore, and make them again.`;
}

export type ForeignKey = {
  name: string;
  table: string;
  columns: string[];
  /** The database of the table that it refers to. */
  database: string;
  parent: string;
  parentColumns: string[];
  onUpdate: string;
  onDelete: string;
};

/** Lists all foreign keys of a database's tables. */
export async function listForeignKeys(
  client: MysqlClient,
  database: string,
  signal: AbortSignal,
): Promise<ForeignKey[]> {
  // In hex, because a name may contain a line end.
  const texts = [
    "k.CONSTRAINT_NAME",
    "k.TABLE_NAME",
    "k.COLUMN_NAME",
    "k.REFERENCED_TABLE_SCHEMA",
    "k.REFERENCED_TABLE_NAME",
    "k.REFERENCED_COLUMN_NAME",
    "r.UPDATE_RULE",
    "r.DELETE_RULE",
  ].map((column) => `HEX(CONVERT(${column} USING utf8mb4))`);
  const rows = await client.query(
    `SELECT ${texts.join(", ")} FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME WHERE k.TABLE_SCHEMA = ${quoteText(database)} AND k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`,
    { signal },
  );
  const keys: ForeignKey[] = [];
  for (const row of rows) {
    const [
      name = "",
      table = "",
      column = "",
      parentDatabase = "",
      parent = "",
      other = "",
      onUpdate = "",
      onDelete = "",
    ] = row.map((hex) => Buffer.from(hex, "hex").toString());
    const last = keys.at(-1);
    if (last?.name === name && last.table === table) {
      last.columns.push(column);
      last.parentColumns.push(other);
    } else
      keys.push({
        name,
        table,
        columns: [column],
        database: parentDatabase,
        parent,
        parentColumns: [other],
        onUpdate,
        onDelete,
      });
  }
  return keys;
}

/** Omits the default rule, because MariaDB would take an explicit RESTRICT for another rule. */
const clause = (occasion: string, rule: string): string =>
  rule === "RESTRICT" ? "" : ` ON ${occasion} ${rule}`;

const isSame = (one: ForeignKey, other: ForeignKey): boolean =>
  one.table === other.table && one.name === other.name;

/** Returns statements that drop the keys that exist. @param there keys that exist. @param database of their tables */
export const dropKeys = (
  keys: readonly ForeignKey[],
  there: readonly ForeignKey[],
  database: string,
): string =>
  keys
    .filter((key) => there.some((one) => isSame(one, key)))
    .map(
      ({ table, name }) =>
        `ALTER TABLE ${quoteName(database)}.${quoteName(table)} DROP FOREIGN KEY ${quoteName(name)};\n`,
    )
    .join("");

/** Returns statements that add the keys that are missing. @param there keys that exist. @param database of their tables */
export const addKeys = (
  keys: readonly ForeignKey[],
  there: readonly ForeignKey[],
  database: string,
): string =>
  keys
    .filter((key) => !there.some((one) => isSame(one, key)))
    .map(
      ({ table, name, columns, database: other, parent, parentColumns, onUpdate, onDelete }) =>
        `ALTER TABLE ${quoteName(database)}.${quoteName(table)} ADD CONSTRAINT ${quoteName(name)} FOREIGN KEY (${columns.map(quoteName).join(", ")}) REFERENCES ${quoteName(other)}.${quoteName(parent)} (${parentColumns.map(quoteName).join(", ")})${clause("DELETE", onDelete)}${clause("UPDATE", onUpdate)};\n`,
    )
    .join("");
