// Lists the databases of a server for a backup of all of them, and checks the privileges that an account needs for it.
import type { MysqlClient } from "../mysql/client.ts";
import { anyDatabase } from "../mysql/grants.ts";
import type { Account } from "../mysql/privileges.ts";
import { SourceError } from "../source.ts";

const own = ["information_schema", "mysql", "performance_schema", "sys", "ndbinfo"];
const scratch = /^quarterdeck_(?:new|old|drill)_[0-9]+(?:_[0-9a-z]+){0,2}$/;
/** Prefix of the name of a folder that the server did not create. */
const foreign = "#mysql50#";

type Found = {
  /** Sorted by name. */
  names: string[];
  /** Folders in the data folder that the server lists as databases, such as lost+found. */
  folders: string[];
};

export async function listDatabases(client: MysqlClient, signal: AbortSignal): Promise<Found> {
  // In hex, because a name may contain a line end.
  const rows = await client.query(
    "SELECT HEX(CONVERT(SCHEMA_NAME USING utf8mb4)) FROM information_schema.SCHEMATA",
    { signal },
  );
  const names = rows
    .map(([hex = ""]) => Buffer.from(hex, "hex").toString())
    .filter((name) => !own.includes(name.toLowerCase()) && !scratch.test(name))
    .sort();
  return {
    names: names.filter((name) => !name.startsWith(foreign)),
    folders: names
      .filter((name) => name.startsWith(foreign))
      .map((name) => name.slice(foreign.length)),
  };
}

/** Whether the server lists all databases for the account, and not only those on which it has a privilege. */
const listsAll = ({ grants }: Account): boolean =>
  grants.has("SHOW DATABASES", anyDatabase) || grants.has("SELECT", anyDatabase);

/** Whether the account may read the accounts, which are rows of the database `mysql`. */
export const readsAccounts = ({ grants }: Account): boolean => grants.has("SELECT", "mysql");

/** Whether nothing of a database is hidden from the account, so that `checkPrivileges` is not needed. */
export const readsAllOf = (account: Account, database: string): boolean =>
  readsAccounts(account) &&
  ["SELECT", "SHOW VIEW", "TRIGGER", "EVENT", "EXECUTE"].every((privilege) =>
    account.grants.has(privilege, database),
  );

export const makesAccounts = ({ grants }: Account): boolean =>
  grants.has("CREATE USER", anyDatabase);

/**
 * Describes what a backup by the account lacks.
 * @returns sentences; empty = it lacks nothing
 * @throws SourceError where the backup would be empty
 */
export function tellUnseen(account: Account, { names, folders }: Found): string[] {
  const { shown } = account;
  const told: string[] = [];
  if (!listsAll(account)) {
    const cure = `Allow it with: GRANT SHOW DATABASES ON *.* TO ${shown};`;
    if (names.length === 0)
      throw new SourceError(
        `The account ${shown} sees no database, and may not list those on which it has no right, so the backup would be empty. ${cure}`,
      );
    told.push(
      `The backup may lack databases: ${shown} sees only those on which it has a right. ${cure}`,
    );
  }
  if (!readsAccounts(account))
    told.push(
      `The backup lacks the accounts of the server, because ${shown} may not read them. Allow it with: GRANT SELECT ON mysql.* TO ${shown};`,
    );
  if (folders.length > 0)
    told.push(
      `Left out, because they are folders of the server and no databases: ${folders.join(", ")}.`,
    );
  return told;
}

/** Whether the server has no tables, views or routines. */
export async function holdsNothing(client: MysqlClient, signal: AbortSignal): Promise<boolean> {
  const { names } = await listDatabases(client, signal);
  if (names.length === 0) return true;
  const others = own.map((name) => `'${name}'`).join(", ");
  const [[count] = []] = await client.query(
    `SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN (${others})) + (SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA NOT IN (${others}))`,
    { signal },
  );
  return count === "0";
}
