// Reads facts about the tables of a live SQLite database and of a backup that is attached to it.
import { sample, tablesQuery, textOf } from "./check-queries.ts";

/** Schema name of the attached backup. */
export const kept = "quarterdeck_backup";

export type Item = { type: string; name: string; table: string; sql: string };

type Column = {
  name: string;
  /** Whether it has a value of its own: it is neither generated nor hidden. */
  isStored: boolean;
  /** Whether it may be an alias of the rowid. */
  isNumber: boolean;
  /** Its type, and whether it accepts null: both may change stored values. */
  kind: string;
};

type Side = {
  /** The whole schema. */
  items: Item[];
  /** Tables with rows of their own. */
  tables: string[];
  columns(table: string): Column[];
  /** Whether the table is WITHOUT ROWID. */
  isWithoutRowid(table: string): boolean;
  /** Tables with a foreign key to it, which may include itself. */
  referring(table: string): string[];
};

export type Facts = { version: number; live: Side; backup: Side };

/** Lowercases ASCII letters, whose case SQLite ignores in names, unlike that of other letters. */
const plain = (name: string): string => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
export const isSame = (one: string, other: string): boolean => plain(one) === plain(other);

const columns = ["a", "b", "c", "d", "e", "f", "g"] as const;

/** All rows have the same columns, with texts in hex, because a name may contain separators of lines or columns. */
const sideQuery = (side: "main" | typeof kept): string => {
  const master = `${side}.sqlite_master`;
  const tables = `(${tablesQuery.replaceAll("sqlite_master", master)})`;
  return [
    `select '${side}', 'item', type, name, tbl_name, sql, '' from ${master}`,
    `select '${side}', 'table', name, '', '', '', '' from ${tables}`,
    `select '${side}', 'column', t.name, x.name, x.hidden, (select count(*) from pragma_table_info(t.name, '${side}') k where k.pk > 0) = 1 and x.pk > 0 and upper(x.type) = 'INTEGER', upper(x.type) || ' ' || x."notnull" from ${tables} t, pragma_table_xinfo(t.name, '${side}') x`,
    `select '${side}', 'keyed', t.name, '', '', '', '' from ${tables} t where exists (select 1 from pragma_index_list(t.name, '${side}') i where i.origin = 'pk' and not exists (select 1 from ${master} m where m.name = i.name))`,
    `select '${side}', 'reference', t.name, f."table", '', '', '' from ${tables} t, pragma_foreign_key_list(t.name, '${side}') f`,
  ].join(" union all ");
};

// As text, because the bytes of a number are always those of UTF-8.
export const factsQuery = `select ${[sample, ...columns.map((name) => `hex(cast(${name} as text))`)].join(" || '|' || ")} as line from (
  select '' as a, 'version' as b, (select schema_version from pragma_schema_version) as c, '' as d, '' as e, '' as f, '' as g
  union all ${sideQuery("main")} union all ${sideQuery(kept)})`;

/** @param lines the result of `factsQuery` */
export function readFacts(lines: readonly string[]): Facts {
  const rows = lines.map((line) => {
    const [sampled = "", ...fields] = line.split("|");
    return fields.map((field) => textOf(sampled, field));
  });
  const of = (side: string): Side => {
    const having = (what: string) => rows.filter(([a, b]) => a === side && b === what);
    const references = having("reference");
    const named = (what: string, table: string) =>
      having(what).filter(([, , name = ""]) => isSame(name, table));
    return {
      items: having("item").map(([, , type = "", name = "", table = "", sql = ""]) => ({
        type,
        name,
        table,
        sql,
      })),
      tables: having("table").map(([, , name = ""]) => name),
      columns: (table) =>
        named("column", table).map(([, , , name = "", hidden, isNumber, kind = ""]) => ({
          name,
          isStored: hidden === "0",
          isNumber: isNumber === "1",
          kind,
        })),
      isWithoutRowid: (table) => named("keyed", table).length > 0,
      referring: (table) => [
        ...new Set(
          references
            .filter(([, , , parent = ""]) => isSame(parent, table))
            .map(([, , child = ""]) => child),
        ),
      ],
    };
  };
  const version = rows.find(([, what]) => what === "version")?.[2];
  return { version: Number(version), live: of("main"), backup: of(kept) };
}
