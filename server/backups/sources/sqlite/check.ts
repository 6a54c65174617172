// Whether a SQLite database is sound, and how many rows it has: as far as SQLite can tell without the functions of an application.
import type { DatabaseSync } from "node:sqlite";
import { open, type DatabasePath } from "./copy.ts";
import { toError } from "../../../to-error.ts";

type Checked = {
  /** Rows by table. */
  tables: Record<string, number>;
  /** What could not be checked, as sentences. */
  notes: string[];
};

/** SQLITE_ERROR_MISSING_COLLSEQ, see https://www.sqlite.org/rescode.html. */
const missingCollationCode = 257;
/** All that SQLite brings along, see https://www.sqlite.org/datatype3.html#collation. */
const builtInCollations = "('BINARY', 'NOCASE', 'RTRIM')";
const shownTables = 5;

/** @throws when its integrity check finds something */
export function checkDatabase(path: DatabasePath, busyMs: number): Checked {
  const database = open(path, true, busyMs);
  try {
    const names = tablesOf(database);
    const unchecked = check(database, names);
    return { tables: countRows(database, names), notes: tellUnchecked(database, unchecked) };
  } finally {
    database.close();
  }
}

/** @returns a sentence when tables are ordered by collations that an application defines */
export function findUnknownCollations(path: DatabasePath, busyMs: number): string[] {
  const database = open(path, true, busyMs);
  try {
    return tellUnchecked(database, [...collationsOf(database).keys()]);
  } finally {
    database.close();
  }
}

/** @returns tables that could not be checked */
function check(database: DatabaseSync, tables: readonly string[]): string[] {
  if (isChecked(database, "pragma integrity_check")) return [];
  return tables.filter((name) => !isChecked(database, `pragma integrity_check(${quote(name)})`));
}

/** @returns false where it needs a collation that is not there */
function isChecked(database: DatabaseSync, pragma: string): boolean {
  const found = unlessCollation(() => database.prepare(pragma).all());
  if (found === null) return false;
  const [first] = found.map((row) => String(row["integrity_check"]));
  if (first !== "ok") throw new Error(`its integrity check says: ${first ?? "nothing"}`);
  return true;
}

/** Virtual tables are left out, and the shadow tables that hold what they show: their rows are no rows of the user's. */
const tablesOf = (database: DatabaseSync): string[] =>
  database
    .prepare("select name from pragma_table_list where schema = 'main' and type = 'table'")
    .all()
    .map((row) => String(row["name"]))
    .filter((name) => !name.startsWith("sqlite_"));

/** A table that cannot be read without a collation of an application is left out. */
function countRows(database: DatabaseSync, names: readonly string[]): Record<string, number> {
  const count = (from: string): number | null =>
    unlessCollation(() =>
      Number(database.prepare(`select count(*) as rows from ${from}`).get()?.["rows"]),
    );
  return Object.fromEntries(
    names.flatMap((name) => {
      const rows = count(quote(name)) ?? count(`${quote(name)} not indexed`);
      return rows === null ? [] : [[name, rows]];
    }),
  );
}

function unlessCollation<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    const { errcode }: Error & { errcode?: number } = toError(error);
    if (errcode === missingCollationCode) return null;
    throw error;
  }
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Collations that are not SQLite's own, by the tables whose indexes use them. */
function collationsOf(database: DatabaseSync): Map<string, string> {
  const rows = database
    .prepare(
      `select t.name as name, x.coll as collation
       from pragma_table_list t, pragma_index_list(t.name) i, pragma_index_xinfo(i.name) x
       where t.schema = 'main' and upper(x.coll) not in ${builtInCollations}`,
    )
    .all();
  return new Map(rows.map(({ name, collation }) => [String(name), String(collation)]));
}

function tellUnchecked(database: DatabaseSync, tables: readonly string[]): string[] {
  if (tables.length === 0) return [];
  const known = collationsOf(database);
  const collations = [...new Set(tables.flatMap((name) => known.get(name) ?? []))];
  const named = tables.slice(0, shownTables).join(", ");
  const more = tables.length > shownTables ? ` and ${tables.length - shownTables} more` : "";
  const plural = (one: string, many: string, count: number) => (count === 1 ? one : many);
  return [
    `${plural("Table", "Tables", tables.length)} ${named}${more} ${plural("uses", "use", tables.length)} the ${plural("collation", "collations", collations.length)} ${collations.join(", ")}, which an application defines: backed up and restored, but the integrity check leaves ${plural("it", "them", tables.length)} out.`,
  ];
}
