// Names of the databases in a backup of a whole server: paths of their files, and prefixes of their tables in counts. The name of a
// database may contain any character.
import { tablePrefixOf } from "../../../../contract/backups/server-tables.ts";
import type { Manifest } from "../source.ts";

const escaped = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");

/** Returns a path of portable characters, without an extension; also used as a folder. */
export const pathOf = (database: string): string =>
  `databases/${database.replace(/[^A-Za-z0-9_-]/gu, escaped)}`;

/** Returns the path of a database that is a single file. */
export const fileOf = (database: string): string => `${pathOf(database)}.dump`;

/** @returns the database that a file belongs to; null = none */
export function databaseOf(path: string): string | null {
  const name = /^databases\/((?:[A-Za-z0-9_-]|%[0-9A-F]{2})+)(?:\.dump|\/[\w-]+\.sql)$/.exec(
    path,
  )?.[1];
  try {
    return name === undefined ? null : decodeURIComponent(name);
  } catch {
    return null;
  }
}

export const withPrefix = <Value>(
  database: string,
  tables: Record<string, Value>,
): Record<string, Value> => {
  const prefix = tablePrefixOf(database);
  return Object.fromEntries(Object.entries(tables).map(([name, value]) => [prefix + name, value]));
};

/** Returns the tables of one database without its prefix, out of those of all databases. */
export function tablesIn<Value>(
  database: string,
  tables: Record<string, Value>,
): Record<string, Value> {
  const prefix = tablePrefixOf(database);
  return Object.fromEntries(
    Object.entries(tables).flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
    ),
  );
}

/** Returns the manifest of one database, out of that of the server. */
export function manifestIn(database: string, manifest: Manifest | null): Manifest | null {
  if (manifest?.kind !== "database") return manifest;
  const { tables, checksums } = manifest;
  return {
    kind: "database",
    tables: tablesIn(database, tables),
    ...(checksums !== undefined && {
      checksums: {
        by: checksums.others?.[database] ?? checksums.by,
        tables: tablesIn(database, checksums.tables),
      },
    }),
  };
}
