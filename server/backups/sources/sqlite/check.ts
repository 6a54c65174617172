// Whether a SQLite database is sound, and how many rows it has: as far as SQLite can tell without the functions of an application.
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
  /** What could not be checked. */
  notes: Unchecked[];
};

/** SQLITE_ERROR_MISSING_COLLSEQ, see https://www.sqlite.org/rescode.html. */
const missingCollationCode = 257;

/** @throws when its integrity check finds something */
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

/** @returns a sentence when tables are ordered by collations that an application defines */
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
 * @param functions gets those of an application that are missed
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

/** @returns false where it needs a collation or a function that is not there */
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

/** A table that cannot be read without a collation of an application is left out. */
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
