// Creates, marks and drops whole databases over a connection to another one, and ends the sessions of a run.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { serverVersion, withClient, type Session, type Target } from "./connection.ts";
import { SourceError } from "../source.ts";
import { toError } from "../../../to-error.ts";

const { escapeIdentifier } = pg;

/** Runs `work` with a connection to the target's database or, where that does not exist, to one that every server has. */
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
  error instanceof SourceError && toError(error.cause).code === "3D000";

/**
 * Whether this installation stores its own data in the database of the connection. A restore would reset that to the time of the
 * backup: later backups, the safety backup included, and the restore itself would be listed nowhere.
 */
export async function isOwnDatabase(
  client: pg.Client,
  { installation }: Pick<Target, "installation">,
): Promise<boolean> {
  if (installation === undefined) return false;
  // Another application may have a table of this name with other columns, or one that the account may not read.
  const { rows: found } = await client.query(`
    select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relname = 'settings' and has_schema_privilege(n.oid, 'usage')
      and has_table_privilege(c.oid, 'select')
      and 2 = (select count(*) from pg_catalog.pg_attribute where attrelid = c.oid and attname in ('key', 'value'))`);
  if (found.length === 0) return false;
  const { rows } = await client.query(
    "select from public.settings where key::text = 'installation' and 'i' || left(value::text, 8) = $1",
    [installation],
  );
  return rows.length > 0;
}

export const whyNotOwn =
  "it is Quarterdeck's own database, which would forget all that happened since, the restore included. To restore it all the same, stop Quarterdeck and do so by hand";

/** Whether PostgreSQL refuses to create a database that exists, or that another session creates at the same time. */
export const isTaken = (error: unknown): boolean =>
  ["42P04", "23505"].includes(toError(error).code ?? "");

export async function mayCreate(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    "select rolcreatedb or rolsuper as may from pg_roles where rolname = current_user",
  );
  return rows[0]?.may === true;
}

/** Optional template of scratch databases. A superuser creates it with the extensions that other accounts may not create. */
export const scratchTemplate = "quarterdeck_template";

/** First major version where a database can have another locale provider than libc. */
const firstWithProviders = 15;

type CreateOptions = {
  /** Why the database is created, for the error message. */
  why: string;
  /** What follows the name in the archive's own CREATE DATABASE; null where the archive has none. */
  clauses: string | null;
  /** Set for a scratch database: beside the target, or on a server that does not have the target. */
  scratch?: "beside" | "elsewhere";
  say(line: string): void;
};

/**
 * Creates a database with the target database's encoding and locale. Where the target does not exist, uses the archive's options
 * or, where the server does not support them, the server's defaults.
 */
export async function createDatabase(
  client: pg.Client,
  target: Target,
  database: string,
  { why, clauses: said, scratch, say }: CreateOptions,
): Promise<void> {
  if (!(await mayCreate(client)))
    throw new SourceError(
      `${target.name}: ${why}, and the account ${target.user} may not create databases. ${howToAllow(target)}`,
    );
  const like = scratch === "elsewhere" ? null : await localeOf(client, target.database);
  const plain = "template template0";
  // Tools since 15 write LOCALE_PROVIDER for older servers, too, which do not support it.
  const isNamed = (await serverVersion(client)).major >= firstWithProviders;
  const clauses = isNamed ? said : (said?.replace(" LOCALE_PROVIDER = libc", "") ?? null);
  const attempts =
    like !== null || clauses === null
      ? [`${plain} ${like ?? ""}`]
      : [
          clauses,
          clauses.replace(/ TABLESPACE = .*$/, ""),
          `${plain} ${/ENCODING = '[^']*'/.exec(clauses)?.[0] ?? ""}`,
          plain,
        ];
  const [first = plain] = attempts;
  if (scratch !== undefined && (like !== null || clauses !== null) && (await hasTemplate(client)))
    attempts.unshift(first.replace(/\btemplate0\b/, scratchTemplate));
  for (const [index, attempt] of attempts.entries()) {
    // The first two attempts are the same where no tablespace is named.
    if (index > 0 && attempt === attempts[index - 1]) continue;
    try {
      await client.query(`create database ${escapeIdentifier(database)} ${attempt}`);
      return;
    } catch (error) {
      // Errors of PostgreSQL have a code.
      const { code, message } = error as Error & { code?: string };
      if (index === attempts.length - 1 || !notHere.has(code ?? "")) throw error;
      say(`The database could not be made with ${attempt}: ${message}.`);
    }
  }
}

/** Error codes for locales, encodings, tablespaces and options that the server does not have, or the account may not use. */
const notHere: ReadonlySet<string> = new Set([
  "22023",
  "42704",
  "42501",
  "42601",
  "42809",
  "0A000",
]);

export const howToAllow = ({ user }: Target): string =>
  `Allow it with: ALTER ROLE ${escapeIdentifier(user)} CREATEDB;`;

export async function hasTemplate(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    "select from pg_database where datname = $1 and datistemplate and not (select rolsuper from pg_roles where rolname = current_user)",
    [scratchTemplate],
  );
  return rows.length > 0;
}

async function localeOf(client: pg.Client, database: string): Promise<string | null> {
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
  return rows[0]?.clauses ?? null;
}

/** Marks a database that a restore created. The restore's own transaction removes the mark. */
export async function markMade(client: pg.Client, database: string, mark: string): Promise<void> {
  await client.query(
    `comment on database ${escapeIdentifier(database)} is ${pg.escapeLiteral(mark)}`,
  );
}

/** Whether a database still has one of the marks, so that its restore was never committed. */
export async function isMarked(
  client: pg.Client,
  database: string,
  marks: string[],
): Promise<boolean> {
  const { rows } = await client.query(
    "select from pg_database where datname = $1 and shobj_description(oid, 'pg_database') = any($2)",
    [database, marks],
  );
  return rows.length > 0;
}

/** PostgreSQL's code where sessions that it told to end have not ended within five seconds, e.g. on a slow disk. */
const inUseState = "55006";
const maxDrops = 12;
const dropAgainMs = 250;
/** How long dropping a database may take: longer than all tries of `dropDatabase`. */
export const dropLimitMs = 90_000;

/**
 * Drops a database, and retries while its sessions are ending: a database that is left would block the next run, or stay forever.
 * Once the client is closed, the next query fails, which ends the retries.
 */
export async function dropDatabase(client: pg.Client, database: string): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      await client.query(`drop database if exists ${escapeIdentifier(database)} with (force)`);
      return;
    } catch (error) {
      if (toError(error).code !== inUseState || tries === maxDrops) throw error;
      await sleep(dropAgainMs);
    }
}

const pollMs = 50;
export const endLimitMs = 30_000;

/** Ends sessions that a run left on the server, and waits until their transactions are rolled back. @throws SourceError */
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
