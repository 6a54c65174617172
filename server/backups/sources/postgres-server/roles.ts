// Creates the roles in the output of pg_dumpall that a server does not have, and changes no other.
import pg from "pg";
import { identifier, nameIn, splitStatements } from "../postgres/properties.ts";
import { SourceError } from "../source.ts";
import type { Beside } from "../whole-server/drill.ts";
import { toError } from "../../../to-error.ts";

/** Path of the roles' file in the archive. */
export const globalsPath = "globals.sql";

/** Last line of the output of pg_dumpall. */
const wholeMark = "-- PostgreSQL database cluster dump complete";

/** @throws SourceError where the file is truncated */
export function refusePartOfGlobals(globals: string): void {
  if (!globals.includes(wholeMark))
    throw new SourceError("The backup's globals.sql is cut off, or is not of pg_dumpall.");
}

export const besideDatabases: Beside = {
  files: { [globalsPath]: refusePartOfGlobals },
  untried: "Roles were not: those of the server were used.",
};

type RoleStatements = {
  /** The roles to create, in the order of the dump. */
  missing: string[];
  statements: string[];
  /** Grant them parameters of the server. */
  parameters: string[];
  /** By role: the statement that sets its comment. */
  comments: Map<string, string>;
};

const created = new RegExp(`^CREATE ROLE (${identifier})$`);
const altered = new RegExp(`^ALTER ROLE (${identifier}) `);
const commented = new RegExp(`^COMMENT ON ROLE (${identifier}) IS `);
const granted = new RegExp(`^GRANT (${identifier}) TO (${identifier})(?: |$)`);
const grantedParameter = new RegExp(
  `^GRANT [A-Z ,]+ ON PARAMETER ${identifier} TO (${identifier})(?: |$)`,
);

/** @param existing names of the roles that the server has */
export function statementsForMissing(
  globals: string,
  existing: ReadonlySet<string>,
): RoleStatements {
  const all = splitStatements(globals);
  const missing = all.flatMap((statement) => {
    const role = nameIn(created.exec(statement)?.[1] ?? "");
    return role === "" || existing.has(role) ? [] : [role];
  });
  const isMissing = (quoted: string | undefined) =>
    quoted !== undefined && missing.includes(nameIn(quoted));
  const comments = new Map<string, string>();
  const statements = all.flatMap((statement) => {
    const note = commented.exec(statement)?.[1];
    if (note !== undefined) {
      if (isMissing(note)) comments.set(nameIn(note), statement);
      return [];
    }
    const [, given, member] = granted.exec(statement) ?? [];
    // The grantor may not exist any more, or may no longer be allowed to grant.
    if (isMissing(given) || isMissing(member)) return [statement.replace(grantor, "")];
    const [, role] = created.exec(statement) ?? altered.exec(statement) ?? [];
    return isMissing(role) ? [statement] : [];
  });
  const parameters = all.filter((statement) => isMissing(grantedParameter.exec(statement)?.[1]));
  return { missing, statements, parameters, comments };
}

/** What of the missing roles takes effect with the databases. */
type Made = Omit<RoleStatements, "statements">;

const grantor = new RegExp(` GRANTED BY ${identifier}$`);

/**
 * Creates the missing roles, marked by a comment so that an interrupted restore can be undone.
 * @returns what `releaseRoles` needs
 * @throws SourceError; no role was created then
 */
export async function createMissingRoles(
  client: pg.Client,
  globals: string,
  mark: string,
): Promise<Made> {
  const { rows } = await client.query<{ name: string }>("select rolname as name from pg_roles");
  const { statements, ...made } = statementsForMissing(
    globals,
    new Set(rows.map(({ name }) => name)),
  );
  await client.query("begin; set local client_encoding = 'UTF8'");
  try {
    for (const statement of statements) await client.query(statement);
    for (const role of made.missing)
      await client.query(
        `comment on role ${pg.escapeIdentifier(role)} is ${pg.escapeLiteral(mark)}`,
      );
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw new SourceError(
      // Without the statement, which may contain a password.
      `Nothing was changed: the roles that are missing here couldn't be made: ${toError(error).message}`,
      { cause: error },
    );
  }
  return made;
}

/**
 * Removes the mark in the transaction that completes the restore, so that `settleServer` keeps the roles. Grants parameters only
 * then, because a role that has one cannot be dropped.
 * @returns messages about parameters that this server does not have, or not to grant
 */
export async function releaseRoles(
  client: pg.Client,
  { missing, parameters, comments }: Made,
): Promise<string[]> {
  for (const role of missing)
    await client.query(
      comments.get(role) ?? `comment on role ${pg.escapeIdentifier(role)} is null`,
    );
  const leftOut: string[] = [];
  for (const statement of parameters) {
    await client.query("savepoint parameter");
    try {
      await client.query(statement);
    } catch (error) {
      await client.query("rollback to parameter");
      leftOut.push(`Left out: ${statement} (${toError(error).message})`);
    }
  }
  return leftOut;
}

export async function markedRoles(client: pg.Client, marks: string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select rolname as name from pg_roles where shobj_description(oid, 'pg_authid') = any($1) order by 1",
    [marks],
  );
  return rows.map(({ name }) => name);
}
