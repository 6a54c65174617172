// Lists the objects of a pg_dump archive other than tables and rows, by the names that people use.
import type { Readable } from "node:stream";
import type { Host } from "../../../hosts/host.ts";
import type { Entry } from "./archive.ts";
import { openBackup } from "./restore.ts";

export type ArchiveObject = { kind: string; name: string };

/** Kinds that are not listed: tables are counted elsewhere, and the others are part of a listed object. */
const unlisted = new Set([
  "ACL",
  "BLOB",
  "BLOB COMMENTS",
  "BLOB METADATA",
  "BLOBS",
  "COMMENT",
  "DATABASE",
  "DATABASE PROPERTIES",
  "DEFAULT",
  "DEFAULT ACL",
  "ENCODING",
  "INDEX ATTACH",
  "MATERIALIZED VIEW DATA",
  "ROW SECURITY",
  "SEARCHPATH",
  "SECURITY LABEL",
  "SEQUENCE OWNED BY",
  "SEQUENCE SET",
  "SHELL TYPE",
  "STATISTICS DATA",
  "STDSTRINGS",
  "TABLE",
  "TABLE ATTACH",
  "TABLE DATA",
]);

const kindNames: Record<string, string> = {
  "CHECK CONSTRAINT": "constraint",
  "FK CONSTRAINT": "foreign key",
  "PUBLICATION TABLE": "published table",
  SERVER: "foreign server",
};

/** Returns the longest of the names that the text begins with, because names may contain spaces. */
const longestOf = (names: readonly string[], text: string): string | undefined =>
  names
    .filter((name) => text.startsWith(`${name} `))
    .reduce<string | undefined>(
      (longest, name) => (name.length > (longest?.length ?? -1) ? name : longest),
      undefined,
    );

/** @returns the objects, in the order of the archive */
function namedObjects(entries: readonly Entry[]): ArchiveObject[] {
  // The last word is the owner; an extension has none.
  const described = entries.map(({ kind, rest }) => ({ kind, text: rest.replace(/ \S*$/, "") }));
  const schemas = described.flatMap(({ kind, text }) =>
    kind === "SCHEMA" ? [text.replace(/^- /, "")] : [],
  );
  const tables = new Map<string, string[]>();
  const known = ["public", "-", ...schemas];
  const placed = described.map(({ kind, text }) => {
    const schema = longestOf(known, text) ?? text.split(" ", 1)[0] ?? "";
    const name = text.slice(schema.length + 1);
    if (kind === "TABLE") tables.set(schema, [...(tables.get(schema) ?? []), name]);
    return { kind, schema, name };
  });
  return placed
    .filter(({ kind }) => !unlisted.has(kind))
    .map(({ kind, schema, name }) => {
      const place = schema === "-" ? "" : `${schema}.`;
      // An object of a table has the table's name before its own.
      const table = onTables.has(kind) ? longestOf(tables.get(schema) ?? [], name) : undefined;
      return {
        kind: kindNames[kind] ?? kind.toLowerCase(),
        name:
          table === undefined
            ? `${place}${name}`
            : `${name.slice(table.length + 1)} on ${place}${table}`,
      };
    });
}

const onTables = new Set([
  "CONSTRAINT",
  "CHECK CONSTRAINT",
  "FK CONSTRAINT",
  "POLICY",
  "RULE",
  "TRIGGER",
]);

/**
 * Reads the table of contents at the beginning of an archive.
 * @throws SourceError where the machine has no pg_restore or `from` is not an archive; or the error of `from`
 */
export async function readObjects(
  host: Host,
  from: Readable,
  signal: AbortSignal,
): Promise<ArchiveObject[]> {
  try {
    const { archive } = await openBackup({ host, isPacked: false }, from, signal);
    return namedObjects(archive.entries());
  } finally {
    from.destroy();
  }
}
