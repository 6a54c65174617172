// Which databases a server has, as far as a backup of all of them goes.
import pg from "pg";
import { SourceError } from "../source.ts";
import { ownName, refuseBrokenNames, type Target } from "../postgres/connection.ts";
import { tellNames } from "../postgres/privileges.ts";

type Its = Pick<Target, "installation">;

/** Names of what a restore makes and drops: `use` is followed by the id of the backup. */
export const scratchDatabase = (its: Its, use: "restore" | "old", id: number, number: number) =>
  `${ownName(its, [use, id], "_")}_${number}`;

/** In SQL: of this installation, or of an earlier version, which named none. @param id a regular expression */
const scratchNames = ({ installation }: Its, use: string, id: number | "[0-9]+"): string =>
  pg.escapeLiteral(
    `^quarterdeck_${use}_${id}${installation === undefined ? "" : `(_${installation})?`}_[0-9]+$`,
  );

/** Of a restore of this installation. */
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

/** Of any installation. */
const isScratch = "datname ~ '^quarterdeck_(drill|restore|old)_[0-9]+(_[0-9a-z]+){0,2}$'";

/**
 * By name: what somebody can connect to and is no template. One whose removal was cut off (a limit of -2) can only be removed.
 * @throws SourceError that names those that the account may not connect to, or that couldn't be restored
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

/** What a restore of this installation that was cut off left, as long as nobody works on it. */
export async function listLeft(client: pg.Client, its: Its): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    select datname as name from pg_database where datname ~ ${scratchNames(its, "(restore|old)", "[0-9]+")} and not exists (
      select from pg_stat_activity where application_name ~ ('^quarterdeck restore ' || split_part(datname::text, '_', 3) || '( |$)')
    ) order by 1`);
  return rows.map(({ name }) => name);
}

export type Account = {
  isSuperuser: boolean;
  /** Passwords of roles are kept where few may look. */
  readsPasswords: boolean;
};

export async function lookAtAccount(client: pg.Client): Promise<Account> {
  const { rows } = await client.query<Account>(`
    select rolsuper as "isSuperuser", has_table_privilege('pg_catalog.pg_authid', 'select') as "readsPasswords"
    from pg_roles where rolname = current_user`);
  return rows[0] ?? { isSuperuser: false, readsPasswords: false };
}

/** Bytes on the disk by database, for those that the account may ask about. */
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
