// Creates inventory entries for what was found on a server.
import type { Discovery } from "../../contract/discovery.ts";
import { databaseUrl } from "../../contract/database-url.ts";
import type { RequestEntries } from "../../contract/inventory/entries.ts";

export type FoundDatabaseServer = Discovery["database_servers"][number];
export type FoundQueueWorker = Discovery["queue_workers"][number];
type Login = { user: string; password: string };

/** Returns a human-readable address of a database server. */
export function placeOf({ engine, port, socket }: FoundDatabaseServer): string {
  const name = engine === "postgres" ? "PostgreSQL" : "MySQL or MariaDB";
  return `${name} on ${[port === null ? null : `port ${port}`, socket].filter((part) => part !== null).join(", ")}`;
}

export const siteEntry = (
  server: number,
  { name, root, user }: Discovery["sites"][number],
): RequestEntries["sites"] => ({ server, name, root, user });

export const sqliteEntry = (
  server: number,
  { name, path, user }: Discovery["sqlite_files"][number],
): RequestEntries["databases"] => ({ server, name, engine: "sqlite", path, user });

export const databaseEntry = (
  server: number,
  found: FoundDatabaseServer,
  login: Login,
  name: string,
): RequestEntries["databases"] => ({
  server,
  name,
  engine: found.engine,
  url: { secret: databaseUrl(found, login, name) },
});
