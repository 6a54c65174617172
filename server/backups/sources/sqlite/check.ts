// Checks a SQLite database and counts its rows, as far as possible without the functions and collations of an application.
import type { DatabaseSync } from "node:sqlite";
import { open, type DatabasePath } from "./copy.ts";
import {
  collationsQuery,
  missingFunction,
  quoteName,
  refuseDamage,
  tablesQuery,
  tellUnchecked,
  type Unchecked,
} from "./check-queries.ts";
import { toError } from "../../../to-error.ts";

type Checked = {
  /** Rows by table. */
  tables: Record<string, number>;
  /** Notes about what could not be checked. */
  notes: Unchecked[];
};

/** SQLITE_ERROR_MISSING_COLLSEQ, see https://www.sqlite.org/rescode.html. */
const missingCollationCode = 257;

/** @throws Error where the integrity check finds damage */
export function checkDatabase(path: DatabasePath, busyMs: number): Checked {
  const database = open(path, true, busyMs);
  try {
    const names = tablesOf(database);
    const functions = new Set<string>();
    const unchecked = check(database, names, functions);
    const tables = countRows(database, names);
    const notes = () => tellUnchecked(unchecked, collationsOf(database), functions);
    return { tables, notes: unchecked.length === 0 ? [] : notes() };
  } finally {
    database.close();
  }
}

/** Rows by table. */
export function countTables(path: DatabasePath, busyMs: number): Record<string, number> {
  const database = open(path, true, busyMs);
  try {
    return countRows(database, tablesOf(database));
  } finally {
    database.close();
  }
}

/** @returns a note where tables use collations that an application defines */
export function findUnknownCollations(path: DatabasePath, busyMs: number): Unchecked[] {
  const database = open(path, true, busyMs);
  try {
    const known = collationsOf(database);
    return tellUnchecked([...known.keys()], known);
  } finally {
    database.close();
  }
}

/**
 * @param functions receives the missing functions of an application
 * @returns tables that could not be checked
 */
function check(
  database: DatabaseSync,
  tables: readonly string[],
  functions: Set<string>,
): string[] {
  if (isChecked(database, "pragma integrity_check", functions)) return [];
  return tables.filter(
    (name) => !isChecked(database, `pragma integrity_check(${quoteName(name)})`, functions),
  );
}

/** @returns false where the check needs a collation or function that is not available */
function isChecked(database: DatabaseSync, pragma: string, functions: Set<string>): boolean {
  const found = unlessCollation(() => {
    try {
      return database.prepare(pragma).all();
    } catch (error) {
      const missing = missingFunction(toError(error).message);
      if (missing === null) throw error;
      functions.add(missing);
      return null;
    }
  });
  if (found === null) return false;
  refuseDamage(found.map((row) => String(row["integrity_check"])));
  return true;
}

const tablesOf = (database: DatabaseSync): string[] =>
  database
    .prepare(tablesQuery)
    .all()
    .map((row) => String(row["name"]));

/** Counts rows by table, except for tables that cannot be read without an application's collation. */
function countRows(database: DatabaseSync, names: readonly string[]): Record<string, number> {
  const count = (from: string): number | null =>
    unlessCollation(() =>
      Number(database.prepare(`select count(*) as rows from ${from}`).get()?.["rows"]),
    );
  return Object.fromEntries(
    names.flatMap((name) => {
      const rows = count(quoteName(name)) ?? count(`${quoteName(name)} not indexed`);
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

function collationsOf(database: DatabaseSync): Map<string, string> {
  const rows = database.prepare(collationsQuery).all();
  return new Map(rows.map(({ name, collation }) => [String(name), String(collation)]));
}
