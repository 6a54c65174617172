// What the databases of a server are called in a backup of all of them: their files in the archive, and the tables that are
// counted. A name may hold anything.
import { tablePrefixOf } from "../../../../contract/backups/server-tables.ts";
import type { Manifest } from "../source.ts";

const escaped = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");

/** A path that every program takes as it is: without its end, or of a folder. */
export const pathOf = (database: string): string =>
  `databases/${database.replace(/[^A-Za-z0-9_-]/gu, escaped)}`;

/** Of one that lies in a single file. */
export const fileOf = (database: string): string => `${pathOf(database)}.dump`;

/** @returns whose file that is, or one in whose folder; null = of none */
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

/** Of tables of all databases, those of one, as it calls them itself. */
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

/** What the manifest of one database would be. */
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
