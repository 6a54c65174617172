import type { Discovery } from "./discovery.ts";

type DatabaseServer = Discovery["database_servers"][number];

/** Returns the URL of a database on a server, in the form that the inventory takes. */
export function databaseUrl(
  { engine, port, socket }: DatabaseServer,
  { user, password }: { user: string; password: string },
  database: string,
): string {
  const [name, who, secret] = [database, user, password].map(encodeURIComponent);
  if (engine === "postgres")
    return port === null
      ? // A URL can name a socket only in its query, and without a host the user and password, too.
        `postgres:///${name}?host=${encodeURIComponent(socket ?? "")}&user=${who}&password=${secret}`
      : `postgres://${who}:${secret}@localhost:${port}/${name}`;
  return socket === null
    ? `mysql://${who}:${secret}@127.0.0.1:${port ?? 3306}/${name}`
    : `mysql://${who}:${secret}@localhost/${name}?socket=${encodeURIComponent(socket)}`;
}
