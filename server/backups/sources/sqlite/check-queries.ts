// What a check of a SQLite database asks, in the SQL of every SQLite of these years, and what it says of the answers.

import { compareTables } from "../tables.ts";

/** Without those that are no rows of the user's: shadow tables hold what a virtual table of SQLite's own shows. */
export const tablesQuery = `select name from sqlite_master as one
  where type = 'table' and rootpage > 0 and name not like 'sqlite~_%' escape '~'
    and not exists (
      select 1 from sqlite_master as virtual
      where virtual.type = 'table' and virtual.rootpage = 0
        and lower(substr(one.name, 1, length(virtual.name) + 1)) = lower(virtual.name || '_')
        and lower(substr(one.name, length(virtual.name) + 2)) in
          ('content', 'segments', 'segdir', 'docsize', 'stat', 'data', 'idx', 'config', 'node', 'rowid', 'parent'))`;

/** All that SQLite brings along, see https://www.sqlite.org/datatype3.html#collation. */
const builtInCollations = "('BINARY', 'NOCASE', 'RTRIM')";

/** Collations that are not SQLite's own, by the tables whose indexes use them. */
export const collationsQuery = `select t.name as name, x.coll as collation
  from sqlite_master t, pragma_index_list(t.name) i, pragma_index_xinfo(i.name) x
  where t.type = 'table' and t.rootpage > 0 and upper(x.coll) not in ${builtInCollations}`;

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** What `hex` makes of a letter: the bytes of a text are those of the database's encoding, UTF-8 or one of the two of UTF-16. */
export const sample = "hex('a')";

/** @param sampled what the same database answered to `sample` @param hex of a text */
export function textOf(sampled: string, hex: string): string {
  const bytes = Buffer.from(hex, "hex");
  if (sampled === "61") return bytes.toString("utf8");
  return (sampled === "0061" ? bytes.swap16() : bytes).toString("utf16le");
}

/**
 * @param found what an integrity check said, by line
 * @throws when it found something
 */
export function refuseDamage([first]: readonly string[]): void {
  if (first !== "ok") throw new Error(`its integrity check says: ${first ?? "nothing"}`);
}

/** @param tables rows by table */
export const tellChecked = (tables: Record<string, number>): string =>
  compareTables(null, tables).replace(/ restored.*/, "; integrity check passed.");

/** What an application defines that a check misses, and a sentence on the tables that it leaves out for that. */
export type Unchecked = { lacks: "collation" | "function"; text: string };

export const textsOf = (notes: readonly Unchecked[]): string[] => notes.map(({ text }) => text);

/** Of what was left out only what a check alone finds out: a run's warnings have the collations. */
export const tellCopied = (tables: Record<string, number>, notes: readonly Unchecked[]): string =>
  [tellChecked(tables), ...textsOf(notes.filter(({ lacks }) => lacks === "function"))].join(" ");

const shownTables = 5;

/** The function that SQLite misses, as it says itself; null = it says something else. */
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
