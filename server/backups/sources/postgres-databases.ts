// Makes, drops and clears whole databases, over a connection to another one.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { withClient, type Session, type Target } from "./postgres-connection.ts";
import { SourceError } from "./source.ts";

const { escapeIdentifier } = pg;

/** Works over a connection to the target's database, or where that is not there, to one that every server has. */
export async function withServer<Result>(
  target: Target,
  session: Session,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  for (const database of [target.database, "postgres"]) {
    try {
      return await withClient({ ...target, database }, session, work);
    } catch (error) {
      if (!isMissingDatabase(error)) throw error;
    }
  }
  return withClient({ ...target, database: "template1" }, session, work);
}

export const isMissingDatabase = (error: unknown): boolean =>
  error instanceof SourceError && (error.cause as { code?: string } | undefined)?.code === "3D000";

export async function mayCreate(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    "select rolcreatedb or rolsuper as may from pg_roles where rolname = current_user",
  );
  return rows[0]?.may === true;
}

/** Makes a database that sorts and stores text as the target's does, or as a new one does if that is not there. */
export async function createDatabase(
  client: pg.Client,
  target: Target,
  database: string,
  why: string,
): Promise<void> {
  if (!(await mayCreate(client)))
    throw new SourceError(
      `${target.name}: ${why}, and the account ${target.user} may not create databases. ${howToAllow(target)}`,
    );
  await client.query(
    `create database ${escapeIdentifier(database)} template template0 ${await localeOf(client, target.database)}`,
  );
}

export const howToAllow = ({ user }: Target): string =>
  `Allow it with: ALTER ROLE ${escapeIdentifier(user)} CREATEDB;`;

async function localeOf(client: pg.Client, database: string): Promise<string> {
  // Over JSON, because the columns' names differ between versions.
  const { rows } = await client.query<{ clauses: string }>(
    `select format('encoding %L lc_collate %L lc_ctype %L', pg_encoding_to_char(encoding), datcollate, datctype)
       || case row->>'datlocprovider'
            when 'i' then format(' locale_provider icu icu_locale %L', coalesce(row->>'datlocale', row->>'daticulocale'))
            when 'b' then format(' locale_provider builtin builtin_locale %L', row->>'datlocale')
            else '' end as clauses
     from pg_database d, to_jsonb(d) as row where datname = $1`,
    [database],
  );
  return rows[0]?.clauses ?? "";
}

/** Marks a database that a restore made; the restore's own transaction takes the mark off. */
export async function markMade(client: pg.Client, database: string, mark: string): Promise<void> {
  await client.query(
    `comment on database ${escapeIdentifier(database)} is ${pg.escapeLiteral(mark)}`,
  );
}

/** Whether its restore was never committed. */
export async function isMarked(
  client: pg.Client,
  database: string,
  mark: string,
): Promise<boolean> {
  const { rows } = await client.query(
    "select from pg_database where datname = $1 and shobj_description(oid, 'pg_database') = $2",
    [database, mark],
  );
  return rows.length > 0;
}

export async function dropDatabase(client: pg.Client, database: string): Promise<void> {
  await client.query(`drop database if exists ${escapeIdentifier(database)} with (force)`);
}

const pollMs = 50;
const endLimitMs = 30_000;

/** Ends what an earlier run left working on the server, and waits until its transactions are undone. */
export async function endSessions(
  client: pg.Client,
  target: Target,
  applicationName: string,
  signal: AbortSignal,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < endLimitMs; waitedMs += pollMs) {
    const { rows } = await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()",
      [applicationName],
    );
    if (rows.length === 0) return;
    await sleep(pollMs, undefined, { signal });
  }
  throw new SourceError(
    `${target.name}: a session called "${applicationName}" does not end. End it on the server.`,
  );
}
