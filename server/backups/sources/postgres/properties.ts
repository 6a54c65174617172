// Reads the properties of the database itself from an archive: encoding, collation, owner, settings, privileges. A restore applies
// them to a database that it has to create.
import { PassThrough, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import pg from "pg";
import type { Archive } from "./archive.ts";
import { lastWords, type Tools } from "./tools.ts";
import { SourceError } from "../source.ts";

type Properties = {
  /** What follows the name in CREATE DATABASE; null where the archive has none. */
  clauses: string | null;
  /** Statements for the created database, each of which may fail on its own; the owner is last. */
  statements: string[];
};

/** @param database the name for the statements, in place of the name in the archive */
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

/** Returns the statements that name no role of the archive's own server. */
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

/** @param sql as pg_restore writes it for a database without its content */
export function toProperties(sql: string, database: string): Properties {
  const properties: Properties = { clauses: null, statements: [] };
  const owners: string[] = [];
  const name = pg.escapeIdentifier(database);
  for (const statement of splitStatements(sql)) {
    if (!kept.test(statement)) continue;
    // A function, because the name may contain a pattern for replacements, such as `$&`.
    const ours = statement.replace(named, () => `DATABASE ${name}`);
    if (statement.startsWith("CREATE DATABASE "))
      properties.clauses = ours.slice(`CREATE DATABASE ${name}`.length).trim();
    else if (ownership.test(statement)) owners.push(ours);
    else properties.statements.push(ours);
  }
  properties.statements.push(...owners);
  return properties;
}

/** Returns the name without the quotes of an identifier in SQL. */
export const nameIn = (quoted: string): string =>
  quoted.startsWith('"') ? quoted.slice(1, -1).replaceAll('""', '"') : quoted;

/** Splits SQL into statements, without comments and commands to psql, which are on lines of their own between statements. */
export function splitStatements(sql: string): string[] {
  const statement = /\s*(?:(?:--|\\)[^\n]*(?:\n|$)|((?:"(?:[^"]|"")*"|'(?:[^']|'')*'|[^'";])+);)/y;
  const statements: string[] = [];
  for (let match = statement.exec(sql); match !== null; match = statement.exec(sql))
    if (match[1] !== undefined) statements.push(match[1].trim());
  return statements;
}

/** SQL for the restore's own transaction that runs the statements, and warns of those that fail. */
export const givingProperties = (statements: readonly string[]): string =>
  // Names and comments are in the archive as the server stores them, in any encoding.
  statements.length === 0
    ? ""
    : `set local client_encoding = 'SQL_ASCII';\n${statements.map(trying).join("")}`;

function trying(statement: string): string {
  const owner = new RegExp(`${ownership.source}(${identifier})$`).exec(statement)?.[1];
  const role = owner === undefined ? undefined : nameIn(owner);
  // An account that gave the database to a role of which it is no member could no longer restore into it.
  const check =
    role === undefined
      ? ""
      : `if not pg_has_role(${pg.escapeLiteral(role)}, 'usage') then raise exception 'must be a member of role %', ${pg.escapeLiteral(role)}; end if;`;
  const shown = pg.escapeLiteral(statement.replace(/\s+/g, " "));
  const body = `begin ${check} execute ${pg.escapeLiteral(statement)};
exception when others then raise warning 'not set on the database: %: %', ${shown}, regexp_replace(sqlerrm, '\\s+', ' ', 'g'); end`;
  return `do ${pg.escapeLiteral(body)};\n`;
}
