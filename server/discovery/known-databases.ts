// Finds the inventory's databases on a database server that was found, by their urls.
import type { FindDatabasesBody } from "../../contract/discovery.ts";
import { readUrl } from "../backups/sources/mysql/client.ts";
import type { DatabaseRow } from "../inventory/store.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import { readPostgresUrl } from "../postgres/address.ts";

type Place = Pick<FindDatabasesBody, "engine" | "port" | "socket">;

/** Whether a host is the machine itself. */
const isItself = (host: string) =>
  host === "localhost" || host === "::1" || /^127(?:\.\d+){3}$/.test(host);

const optionOf = (options: readonly string[], name: string): string | undefined =>
  options.find((option) => option.startsWith(`--${name}=`))?.slice(name.length + 3);

/** Returns the database that a url names on the server at a port or socket; null = the url is invalid, or of another server. */
export function databaseThere({ engine, port, socket }: Place, url: string): string | null {
  try {
    if (engine === "postgres") {
      const { host, port: its, database } = readPostgresUrl(url);
      const isThere = isItself(host) ? port != null : host === socket;
      return isThere && its === (port ?? 5432) ? database : null;
    }
    const { database, connection } = readUrl("", url);
    const its = optionOf(connection, "port");
    const named = optionOf(connection, "socket");
    // A url without port and socket means the client's default socket, which is assumed to be this one.
    const isThere =
      its !== undefined
        ? isItself(optionOf(connection, "host") ?? "") && its === String(port)
        : socket != null && (named ?? socket) === socket;
    return isThere ? database : null;
  } catch {
    // An invalid url is reported where it is used.
    return null;
  }
}

export async function listKnown(
  databases: readonly DatabaseRow[],
  place: Place,
  secrets: SecretReader,
): Promise<Map<string, number>> {
  const known = new Map<string, number>();
  for (const { id, entry } of databases) {
    if (entry.engine !== place.engine || entry.scope === "server") continue;
    // A missing secret is reported where it is used.
    const url = await secrets.read(entry.url, "").catch(() => "");
    const database = databaseThere(place, url);
    if (database !== null) known.set(database, id);
  }
  return known;
}
