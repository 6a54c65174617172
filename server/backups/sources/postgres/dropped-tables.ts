// Finds the entries of an archive that create a dropped table again: the table, and what was dropped with it.
import { SourceError } from "../source.ts";
import type { Entry } from "./archive.ts";

type Place = { schema: string; name: string };

/** Kinds that are dropped with the table that they depend on, directly or indirectly. */
const belonging = new Set([
  "TABLE DATA",
  "SEQUENCE",
  "SEQUENCE OWNED BY",
  "SEQUENCE SET",
  "INDEX",
  "STATISTICS",
  "ROW SECURITY",
  "ACL",
  "COMMENT",
  "SECURITY LABEL",
]);
/** Kinds that are dropped with their own table. Such entries of another table may depend on it, too. */
const ownByName = new Set([
  "DEFAULT",
  "CONSTRAINT",
  "CHECK CONSTRAINT",
  "TRIGGER",
  "RULE",
  "POLICY",
]);

const isNamed = ({ rest }: Entry, { schema, name }: Place): boolean =>
  rest.startsWith(`${schema} ${name} `);

/** The last word is the owner. */
const withoutOwner = ({ rest }: Entry): string => rest.trim().replace(/ \S+$/, "");

/**
 * @param entries all entries of the archive
 * @param gone the tables to create, each with the entry of its rows
 * @param live what the database has: tables, views and everything else that takes the name of a table
 * @returns the entries that create the tables, and messages about what is left out
 * @throws SourceError for a table that cannot be created on its own
 */
export function findDropped(
  entries: readonly Entry[],
  gone: readonly (Place & { rows: Entry })[],
  live: readonly Place[],
): { made: Set<Entry>; leftOut: string[] } {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const made = new Set<Entry>();
  const tables = new Set<string>();
  for (const { schema, name, rows } of gone) {
    const table = rows.needs
      .map((id) => byId.get(id))
      .find((entry) => entry?.kind === "TABLE" && isNamed(entry, { schema, name }));
    if (table === undefined)
      throw new SourceError(
        `Nothing was changed: the table ${schema}.${name} is not there any more, and the backup doesn't say how to make it. Restore the backup into a new database, and copy the table from there.`,
      );
    if (entries.some(({ kind, needs }) => kind === "TABLE ATTACH" && needs.includes(table.id)))
      throw new SourceError(
        `Nothing was changed: ${schema}.${name}, which is not there any more, is a partition of another table. Restore the backup into a new database, and copy the table from there.`,
      );
    made.add(table);
    tables.add(table.id);
  }
  const isPresent = (entry: Entry) =>
    made.has(entry) || live.some((place) => isNamed(entry, place));
  const isWanted = (entry: Entry) =>
    belonging.has(entry.kind) ||
    entry.kind === "FK CONSTRAINT" ||
    (ownByName.has(entry.kind) && gone.some((place) => isNamed(entry, place)));
  const leftOut: string[] = [];
  const seen = new Set<Entry>();
  // Repeated until nothing is added, because an archive may list an entry before those that it depends on.
  for (let size = -1; size !== made.size;) {
    size = made.size;
    for (const entry of entries) {
      const needed = entry.needs.flatMap((id) => byId.get(id) ?? []);
      if (made.has(entry) || seen.has(entry) || !needed.some((one) => made.has(one))) continue;
      if (!isWanted(entry)) continue;
      const missing = needed.filter((one) => one.kind === "TABLE" && !isPresent(one));
      if (missing.length === 0) made.add(entry);
      else {
        seen.add(entry);
        leftOut.push(
          `Left out: ${words[entry.kind] ?? entry.kind.toLowerCase()} ${withoutOwner(entry)}, because ${[...new Set(missing.map(withoutOwner))].join(" and ")} is not there.`,
        );
      }
    }
  }
  // Not published again: a publication may belong to another role, or send rows that its subscribers have already.
  for (const entry of entries)
    if (entry.kind === "PUBLICATION TABLE" && entry.needs.some((id) => tables.has(id)))
      leftOut.push(
        `Left out: published table ${withoutOwner(entry)}. ALTER PUBLICATION … ADD TABLE publishes it again.`,
      );
  return { made, leftOut };
}

const words: Record<string, string> = { "FK CONSTRAINT": "foreign key" };
