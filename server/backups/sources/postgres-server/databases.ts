// Lists the databases of a server for a backup of all of them, and the databases that restores left.
import pg from "pg";
import { SourceError } from "../source.ts";
import { ownName, refuseBrokenNames, type Target } from "../postgres/connection.ts";
import { tellNames } from "../postgres/privileges.ts";

type Its = Pick<Target, "installation">;

/** Names a database that a restore creates and drops. @param use followed by the id of the backup in the name */
export const scratchDatabase = (its: Its, use: "restore" | "old", id: number, number: number) =>
  `${ownName(its, [use, id], "_")}_${number}`;

/** SQL for a pattern of this installation's names; those of an earlier version lack the installation. @param id a regular expression */
const scratchNames = ({ installation }: Its, use: string, id: number | "[0-9]+"): string =>
  pg.escapeLiteral(
    `^quarterdeck_${use}_${id}${installation === undefined ? "" : `(_${installation})?`}_[0-9]+$`,
  );

/** Lists the scratch databases of a restore of this installation. */
export async function listScratch(
  client: pg.Client,
  its: Its,
  use: "restore" | "old",
  id: number,
): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_database where datname ~ ${scratchNames(its, use, id)} order by oid`,
  );
  return rows.map(({ name }) => name);
}

/** SQL that is true for a scratch database of any installation. */
const isScratch = "datname ~ '^quarterdeck_(drill|restore|old)_[0-9]+(_[0-9a-z]+){0,2}$'";

/**
 * Lists the databases that allow connections and are no templates, by name. A database with a connection limit of -2, whose removal
 * was interrupted, can only be dropped.
 * @throws SourceError that names databases that the account may not connect to, or that could not be restored
 */
export async function listDatabases(client: pg.Client, target: Target): Promise<string[]> {
  const { rows } = await client.query<{ name: string; open: boolean }>(`
    select datname as name, has_database_privilege(oid, 'connect') as open from pg_database
    where datallowconn and not datistemplate and datconnlimit <> -2 and not ${isScratch}
    order by datname collate "C"`);
  const closed = rows.filter(({ open }) => !open).map(({ name }) => name);
  if (closed.length > 0)
    throw new SourceError(
      `${target.name}: the account ${target.user} may not connect to ${tellNames(closed)}. Allow it with GRANT CONNECT ON DATABASE, or use an account that may.`,
    );
  const names = rows.map(({ name }) => name);
  refuseBrokenNames(target.name, names);
  return names;
}

/** Lists the databases that an interrupted restore of this installation left. Those of a running restore are not listed. */
export async function listLeft(client: pg.Client, its: Its): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    select datname as name from pg_database where datname ~ ${scratchNames(its, "(restore|old)", "[0-9]+")} and not exists (
      select from pg_stat_activity where application_name ~ ('^quarterdeck restore ' || split_part(datname::text, '_', 3) || '( |$)')
    ) order by 1`);
  return rows.map(({ name }) => name);
}

export type Account = {
  isSuperuser: boolean;
  /** Whether the account may read the passwords of roles, which are in a restricted catalog. */
  readsPasswords: boolean;
};

export async function lookAtAccount(client: pg.Client): Promise<Account> {
  const { rows } = await client.query<Account>(`
    select rolsuper as "isSuperuser", has_table_privilege('pg_catalog.pg_authid', 'select') as "readsPasswords"
    from pg_roles where rolname = current_user`);
  return rows[0] ?? { isSuperuser: false, readsPasswords: false };
}

/** Returns bytes on disk by database, for the databases that the account may connect to. */
export async function sizesOf(
  client: pg.Client,
  names: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    "select datname as name, pg_database_size(oid) as bytes from pg_database where datname = any($1) and has_database_privilege(oid, 'connect')",
    [names],
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}
