// What statements of a foreign dump are refused, what is left out, and what they say of the rows.
import type { Statement } from "../../foreign/sql-statement.ts";
import { SourceError } from "../source.ts";

/** A dump does none of this. Whoever wrote the file wants more than a database's content. */
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

/** What pg_dump and pg_restore write around a dump so that psql takes nothing in it for a command. */
const isRestrict = (text: string): boolean => /^\\(?:un)?restrict\b/.test(text);

/** @throws SourceError for any command but the one that a dump may have */
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

/** What a dump with `--create` says of the database as a whole, which the import has made already. */
const ofDatabase =
  /^(?:(?:CREATE|ALTER|DROP) DATABASE|ALTER (?:ROLE|USER) \S+ IN DATABASE) (?:IF EXISTS )?("(?:[^"]|"")*"|[^\s."(]+)(?: |$)/i;
const connects =
  /^\\c(?:onnect)? +(?:-reuse-previous=on +"dbname='((?:[^'\\"]|\\.)+)'"|([^\s"';\\]+) *;?)$/;

/** Reads which database a dump makes and enters. */
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
    /** Whether a command to psql enters it, or is what stands before that where its name isn't plain. */
    isEntering(text: string): boolean {
      if (of !== null && text === "\\encoding SQL_ASCII") return true;
      const [, quoted, plain] = connects.exec(text) ?? [];
      const name = quoted?.replaceAll(/\\(.)/g, "$1") ?? plain ?? "";
      return of !== null && Buffer.from(name, "latin1").toString("utf8") === of;
    },
    name: (): string | null => of,
  };
}

/** What belongs to other roles there belongs to the account here; and what a new database has, or only its owner may say. */
const leftOut: readonly RegExp[] = [
  /^ALTER\b.* OWNER TO\b/i,
  /^(?:GRANT|REVOKE|ALTER DEFAULT PRIVILEGES|SECURITY LABEL)\b/i,
  /^(?:SET SESSION AUTHORIZATION|(?:RE)?SET ROLE)\b/i,
  /^(?:COMMENT ON|CREATE) SCHEMA (?:IF NOT EXISTS )?"?public"?(?: IS\b.*)?$/i,
  // Where it is dropped, nothing that is left out would make it again.
  /^DROP SCHEMA (?:IF EXISTS )?"?public"?(?: (?:CASCADE|RESTRICT))?$/i,
  /^COMMENT ON (?:EXTENSION|DATABASE|ROLE|TABLESPACE)\b/i,
  // They would begin to replicate from elsewhere.
  /^(?:CREATE|ALTER|DROP) SUBSCRIPTION\b/i,
  // The text is read as UTF-8, whatever the session says.
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

/** The table that a statement makes or fills, as counts name it; null = it does neither. */
function tableOf(head: string): string | null {
  const [, first, second] = qualified.exec(head) ?? [];
  if (first === undefined) return null;
  return second === undefined
    ? `public.${unquoted(first)}`
    : `${unquoted(first)}.${unquoted(second)}`;
}

/** Counts the rows of a dump from its statements: by table, as a count in the database would. */
export function createRowTally() {
  const tables: Record<string, number> = {};
  let copied: string | null = null;
  const add = (table: string | null, rows: number) => {
    // Those of extensions come with them, and are counted nowhere.
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
