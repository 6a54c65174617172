// What a database is, beside what is in it: encoding, collation, owner, settings, privileges. An archive says it, and a
// restore gives it to a database that it has to make.
import { PassThrough, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import pg from "pg";
import type { Archive } from "./archive.ts";
import { lastWords, type Tools } from "./tools.ts";
import { SourceError } from "../source.ts";

type Properties = {
  /** What stands behind the name in CREATE DATABASE; null when the archive does not say. */
  clauses: string | null;
  /** Statements for the database that was made, each to be tried by itself; its owner last. */
  statements: string[];
};

/** @param database the name that the statements are to use, whatever the archive's database was called */
export async function readProperties(
  tools: Tools,
  archive: Archive,
  database: string,
  signal: AbortSignal,
): Promise<Properties> {
  const run = async (input: Readable, list: string[] | null, more: string[]) => {
    const output = new PassThrough();
    const written = text(output);
    written.catch(() => undefined);
    const argv = [tools.program("pg_restore"), "--create", ...more] as const;
    const end = await archive.run(list, { argv, input, output, signal });
    if (end.exitCode !== 0)
      throw new SourceError(`The backup could not be read: pg_restore says: ${lastWords(end)}`);
    return written;
  };
  const contents = await run(archive.openHead(), null, ["--list"]);
  const list = contents.split("\n").filter(isOfDatabase);
  const sql = await run(archive.openHead(), list, ["--schema-only", "--file=-"]);
  return toProperties(sql, database);
}

/** Statements that name no role of the server that the archive came from. */
export const withoutRoles = (statements: readonly string[]): string[] =>
  statements.filter(
    (statement) => !/^(?:ALTER ROLE|GRANT|REVOKE) /.test(statement) && !ownership.test(statement),
  );

const isOfDatabase = (line: string): boolean =>
  /^\d+; \d+ \d+ (?:DATABASE(?: PROPERTIES)? |(?:ACL|COMMENT|SECURITY LABEL) - DATABASE )/.test(
    line,
  );

export const identifier = `(?:"(?:[^"]|"")*"|[^\\s";]+)`;
const named = new RegExp(`\\bDATABASE ${identifier}`);
const kept =
  /^(?:CREATE DATABASE|ALTER DATABASE|ALTER ROLE|COMMENT ON DATABASE|GRANT|REVOKE|SECURITY LABEL) /;
const ownership = / OWNER TO /;

/** @param sql what pg_restore writes for a database without its content */
export function toProperties(sql: string, database: string): Properties {
  const properties: Properties = { clauses: null, statements: [] };
  const owners: string[] = [];
  const name = pg.escapeIdentifier(database);
  for (const statement of splitStatements(sql)) {
    if (!kept.test(statement)) continue;
    // As a function: the name may hold what stands for something in a replacement.
    const ours = statement.replace(named, () => `DATABASE ${name}`);
    if (statement.startsWith("CREATE DATABASE "))
      properties.clauses = ours.slice(`CREATE DATABASE ${name}`.length).trim();
    else if (ownership.test(statement)) owners.push(ours);
    else properties.statements.push(ours);
  }
  properties.statements.push(...owners);
  return properties;
}

/** What an identifier in SQL names. */
export const nameIn = (quoted: string): string =>
  quoted.startsWith('"') ? quoted.slice(1, -1).replaceAll('""', '"') : quoted;

/** Without comments and what is for psql alone, which stand on lines of their own between statements. */
export function splitStatements(sql: string): string[] {
  const statement = /\s*(?:(?:--|\\)[^\n]*(?:\n|$)|((?:"(?:[^"]|"")*"|'(?:[^']|'')*'|[^'";])+);)/y;
  const statements: string[] = [];
  for (let match = statement.exec(sql); match !== null; match = statement.exec(sql))
    if (match[1] !== undefined) statements.push(match[1].trim());
  return statements;
}

/** SQL that gives the database what it can be given, and warns of the rest; for the restore's own transaction. */
export const givingProperties = (statements: readonly string[]): string =>
  // Names and comments stand in the archive as the server keeps them, in whatever encoding.
  statements.length === 0
    ? ""
    : `set local client_encoding = 'SQL_ASCII';\n${statements.map(trying).join("")}`;

function trying(statement: string): string {
  const owner = new RegExp(`${ownership.source}(${identifier})$`).exec(statement)?.[1];
  const role = owner === undefined ? undefined : nameIn(owner);
  // Who gives a database to a role whose rights are not his own could not restore into it any more.
  const check =
    role === undefined
      ? ""
      : `if not pg_has_role(${pg.escapeLiteral(role)}, 'usage') then raise exception 'must be a member of role %', ${pg.escapeLiteral(role)}; end if;`;
  const shown = pg.escapeLiteral(statement.replace(/\s+/g, " "));
  const body = `begin ${check} execute ${pg.escapeLiteral(statement)};
exception when others then raise warning 'not set on the database: %: %', ${shown}, regexp_replace(sqlerrm, '\\s+', ' ', 'g'); end`;
  return `do ${pg.escapeLiteral(body)};\n`;
}
