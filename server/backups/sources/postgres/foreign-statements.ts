// Decides which statements of a foreign dump are refused or left out, and counts the rows of a dump.
import type { Statement } from "../../foreign/sql-statement.ts";
import { SourceError } from "../source.ts";

/** Statements that no dump of a database has, and that reach beyond its content. */
const refused: readonly (readonly [RegExp, string])[] = [
  [/^COPY\b.* (?:FROM|TO) PROGRAM\b/i, "runs a program on the database's server"],
  [/^COPY\b.* (?:FROM|TO) (?:U&)?''/i, "reads or writes a file of the database's server"],
  [/^(?:CREATE|ALTER|DROP) DATABASE\b/i, "works on a whole database"],
  [
    /^(?:CREATE|ALTER|DROP) (?:ROLE|USER(?! MAPPING)|GROUP|TABLESPACE)\b/i,
    "changes accounts or tablespaces of the whole server",
  ],
  [/^(?:REASSIGN|DROP) OWNED\b/i, "changes what accounts own on the whole server"],
  [/^PREPARE TRANSACTION\b/i, "leaves a transaction open"],
  [/^ALTER SYSTEM\b/i, "changes settings of the whole server"],
  [/^LOAD\b/i, "loads a library into the server"],
];

/** @throws SourceError */
export function refuseStatement({ head, line }: Pick<Statement, "head" | "line">): void {
  const reason = refused.find(([pattern]) => pattern.test(head))?.[1];
  if (reason !== undefined) throw new SourceError(`Line ${line} ${reason}. Nothing was imported.`);
}

/** Whether a command is one of those around a dump by which pg_dump and pg_restore keep psql from other commands in it. */
const isRestrict = (text: string): boolean => /^\\(?:un)?restrict\b/.test(text);

/** @throws SourceError for any command to psql except `\restrict` and `\unrestrict` */
export function refuseCommand(text: string, line: number): void {
  if (isRestrict(text)) return;
  throw new SourceError(
    `Line ${line} has a command to psql, “${text.slice(0, 60)}”, which could run programs. ${
      /^\\c(?:onnect)?\b/.test(text)
        ? "Dump the one database alone."
        : "Remove it if you trust the file."
    } Nothing was imported.`,
  );
}

/** Statements of a dump with `--create` about the database as a whole, which the import has created already. */
const ofDatabase =
  /^(?:(?:CREATE|ALTER|DROP) DATABASE|ALTER (?:ROLE|USER) \S+ IN DATABASE) (?:IF EXISTS )?("(?:[^"]|"")*"|[^\s."(]+)(?: |$)/i;
const connects =
  /^\\c(?:onnect)? +(?:-reuse-previous=on +"dbname='((?:[^'\\"]|\\.)+)'"|([^\s"';\\]+) *;?)$/;

/** Tracks which database a dump creates and connects to. */
export function createDumpedDatabase() {
  let of: string | null = null;
  return {
    /** Whether a statement is about the database as a whole. @throws SourceError for one about a second database */
    isAbout({ head, line }: Pick<Statement, "head" | "line">): boolean {
      const named = ofDatabase.exec(head)?.[1];
      if (named === undefined) return false;
      const name = unquoted(named);
      of ??= name;
      if (of === name) return true;
      throw new SourceError(
        `Line ${line} is about the database “${name}”, and the file has “${of}” before it. An import takes one database: dump it alone.`,
      );
    },
    /** Whether a command to psql connects to that database, or precedes such a command where the name has special characters. */
    isEntering(text: string): boolean {
      if (of !== null && text === "\\encoding SQL_ASCII") return true;
      const [, quoted, plain] = connects.exec(text) ?? [];
      const name = quoted?.replaceAll(/\\(.)/g, "$1") ?? plain ?? "";
      return of !== null && Buffer.from(name, "latin1").toString("utf8") === of;
    },
    name: (): string | null => of,
  };
}

/**
 * Statements that are left out: those about roles, because everything belongs to the account; and those about what a new database
 * has already, or what only an owner may change.
 */
const leftOut: readonly RegExp[] = [
  /^ALTER\b.* OWNER TO\b/i,
  /^(?:GRANT|REVOKE|ALTER DEFAULT PRIVILEGES|SECURITY LABEL)\b/i,
  /^(?:SET SESSION AUTHORIZATION|(?:RE)?SET ROLE)\b/i,
  /^(?:COMMENT ON|CREATE) SCHEMA (?:IF NOT EXISTS )?"?public"?(?: IS\b.*)?$/i,
  // The statement that would create it again is left out, too.
  /^DROP SCHEMA (?:IF EXISTS )?"?public"?(?: (?:CASCADE|RESTRICT))?$/i,
  /^COMMENT ON (?:EXTENSION|DATABASE|ROLE|TABLESPACE)\b/i,
  // Subscriptions would begin to replicate.
  /^(?:CREATE|ALTER|DROP) SUBSCRIPTION\b/i,
  // The text is always read as UTF-8.
  /^SET client_encoding\b/i,
  // The load has its own limits.
  /^SET (?:statement|lock|transaction|idle_in_transaction_session)_timeout\b/i,
];

export const isLeftOut = (head: string): boolean => leftOut.some((pattern) => pattern.test(head));

const name = String.raw`("(?:[^"]|"")*"|[^\s."(]+)`;
const qualified = new RegExp(
  String.raw`^(?:CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?|COPY |INSERT INTO )${name}(?:\.${name})?(?: |\(|$)`,
  "i",
);

const unquoted = (text: string): string => {
  const plain = text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text.toLowerCase();
  const bytes = Buffer.from(plain.replaceAll("\u0001", " ").replaceAll("\u0002", "."), "latin1");
  return bytes.toString("utf8");
};

/** Returns the table that a statement creates or fills, as counts name it; null = it does neither. */
function tableOf(head: string): string | null {
  const [, first, second] = qualified.exec(head) ?? [];
  if (first === undefined) return null;
  return second === undefined
    ? `public.${unquoted(first)}`
    : `${unquoted(first)}.${unquoted(second)}`;
}

/** Counts the rows of a dump by table, from its statements, as `countRows` would in the database. */
export function createRowTally() {
  const tables: Record<string, number> = {};
  let copied: string | null = null;
  const add = (table: string | null, rows: number) => {
    // Tables that the dump does not create belong to extensions, and are not counted.
    if (table !== null && tables[table] !== undefined) tables[table] += rows;
  };
  return {
    take({ head, rows }: Statement): void {
      const table = tableOf(head);
      if (/^CREATE\b/i.test(head)) {
        // The rows of a partitioned table are in its partitions.
        if (table !== null && !/ PARTITION BY\b/i.test(head)) tables[table] = 0;
      } else if (/^COPY\b/i.test(head)) copied = table;
      else if (/^INSERT\b/i.test(head)) add(table, rows);
      else if (/^SELECT pg_catalog\.lo_create\(/i.test(head))
        tables["large objects"] = (tables["large objects"] ?? 0) + 1;
    },
    takeRows: (rows: number) => add(copied, rows),
    tables: (): Record<string, number> => tables,
  };
}
