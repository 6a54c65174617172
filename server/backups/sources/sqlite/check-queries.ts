// Queries for the check of a SQLite database, in SQL that older versions support, and messages about the results.

import { compareTables } from "../tables.ts";

/** Lists tables with the user's own rows, without shadow tables, which store the content of SQLite's virtual tables. */
export const tablesQuery = `select name from sqlite_master as one
  where type = 'table' and rootpage > 0 and name not like 'sqlite~_%' escape '~'
    and not exists (
      select 1 from sqlite_master as virtual
      where virtual.type = 'table' and virtual.rootpage = 0
        and lower(substr(one.name, 1, length(virtual.name) + 1)) = lower(virtual.name || '_')
        and lower(substr(one.name, length(virtual.name) + 2)) in
          ('content', 'segments', 'segdir', 'docsize', 'stat', 'data', 'idx', 'config', 'node', 'rowid', 'parent'))`;

/** The built-in collations, see https://www.sqlite.org/datatype3.html#collation. */
const builtInCollations = "('BINARY', 'NOCASE', 'RTRIM')";

/** Lists collations of an application, with the tables whose indexes use them. */
export const collationsQuery = `select t.name as name, x.coll as collation
  from sqlite_master t, pragma_index_list(t.name) i, pragma_index_xinfo(i.name) x
  where t.type = 'table' and t.rootpage > 0 and upper(x.coll) not in ${builtInCollations}`;

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A sample of `hex`, which shows the encoding of the database: UTF-8, or one of the two of UTF-16. */
export const sample = "hex('a')";

/** @param sampled the same database's result of `sample` @param hex of a text */
export function textOf(sampled: string, hex: string): string {
  const bytes = Buffer.from(hex, "hex");
  if (sampled === "61") return bytes.toString("utf8");
  return (sampled === "0061" ? bytes.swap16() : bytes).toString("utf16le");
}

/**
 * @param found lines of the result of an integrity check
 * @throws Error where the check found damage
 */
export function refuseDamage([first]: readonly string[]): void {
  if (first !== "ok") throw new Error(`its integrity check says: ${first ?? "nothing"}`);
}

/** @param tables rows by table */
export const tellChecked = (tables: Record<string, number>): string =>
  compareTables(null, tables).replace(/ restored.*/, "; integrity check passed.");

/** What a check lacks because an application defines it, and a sentence about the tables that are not checked. */
export type Unchecked = { lacks: "collation" | "function"; text: string };

export const textsOf = (notes: readonly Unchecked[]): string[] => notes.map(({ text }) => text);

/** Describes a copy. Mentions only missing functions, because missing collations are among the run's warnings. */
export const tellCopied = (tables: Record<string, number>, notes: readonly Unchecked[]): string =>
  [tellChecked(tables), ...textsOf(notes.filter(({ lacks }) => lacks === "function"))].join(" ");

const shownTables = 5;

/** Returns the missing function in an error message of SQLite; null = another message. */
export const missingFunction = (message: string): string | null =>
  /\bunknown function: (.+\(\))/.exec(message)?.[1] ?? null;

/**
 * @param tables that could not be checked
 * @param collations of an application, by table
 * @param functions of an application, which indexes, generated columns and constraints may use
 */
export function tellUnchecked(
  tables: readonly string[],
  collations: ReadonlyMap<string, string>,
  functions: ReadonlySet<string> = new Set(),
): Unchecked[] {
  const isOrdered = (name: string) => functions.size === 0 || collations.has(name);
  const ordered = tables.filter(isOrdered);
  const others = tables.filter((name) => !isOrdered(name));
  const used = [...new Set(ordered.flatMap((name) => collations.get(name) ?? []))];
  return [
    ...tellLeftOut(ordered, used, "collation"),
    ...tellLeftOut(others, [...functions], "function"),
  ];
}

function tellLeftOut(
  tables: readonly string[],
  names: string[],
  lacks: Unchecked["lacks"],
): Unchecked[] {
  if (tables.length === 0) return [];
  const named = tables.slice(0, shownTables).join(", ");
  const more = tables.length > shownTables ? ` and ${tables.length - shownTables} more` : "";
  const plural = (one: string, many: string, count: number) => (count === 1 ? one : many);
  const text = `${plural("Table", "Tables", tables.length)} ${named}${more} ${plural("uses", "use", tables.length)} the ${plural(lacks, `${lacks}s`, names.length)} ${names.join(", ")}, which an application defines: backed up and restored, but the integrity check leaves ${plural("it", "them", tables.length)} out.`;
  return [{ lacks, text }];
}
