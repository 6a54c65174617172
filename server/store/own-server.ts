// Checks the operator's own PostgreSQL (`DATABASE_URL`) before anything is created in it.
import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import pg from "pg";
import { connectAs, placeOf, readPostgresUrl, type PostgresAddress } from "../postgres/address.ts";
import { describeRefusal } from "../postgres/refusal.ts";
import { startPatienceMs, tellWait } from "./database.ts";
import { toError } from "../to-error.ts";
import type { ConnectionOptions } from "./storable.ts";

/** The database cannot be used. The message says why and what to do, and contains no secret. */
export class DatabaseUnusable extends Error {
  override name = "DatabaseUnusable";
}

/** Oldest major version that the tests cover. */
const oldestVersion = 15;
/** How long a command waits for a connection. */
const commandPatienceMs = 10_000;

type Found = {
  version: number;
  version_text: string;
  encoding: string;
  is_standby: boolean;
  may_create: boolean;
};

/** Checks both privileges: to create the schema of the jobs, and to create tables. */
const survey = `select current_setting('server_version_num')::int / 10000 as version,
  current_setting('server_version') as version_text,
  current_setting('server_encoding') as encoding,
  pg_is_in_recovery() as is_standby,
  has_database_privilege(current_database(), 'create') and has_schema_privilege('public', 'create') as may_create`;

/**
 * Finds out how to connect to the database, with TLS or without.
 * @param setting name of the setting that has the URL, for messages
 * @param patienceMs how long to wait for a connection
 * @throws DatabaseUnusable where the database is unreachable, too old, a standby, or may not be written to
 */
export async function openOwnServer(
  url: string,
  setting = "DATABASE_URL",
  patienceMs = commandPatienceMs,
): Promise<ConnectionOptions> {
  const address = readAddress(url, setting);
  const readGiven = (path: string) => readGivenFile(path, setting);
  const { host, port, user, password, database } = address;
  const options = { host, port, user, password, database, application_name: "quarterdeck" };
  try {
    return await connectAs(address, readGiven, async (ssl) => {
      const client = new pg.Client({ ...options, ssl, connectionTimeoutMillis: patienceMs });
      // Without a listener, a connection that breaks between two queries would end the service; the next query reports it.
      client.on("error", () => undefined);
      try {
        await client.connect();
        const { rows } = await client.query<Found>(survey);
        const problem = rows.map((found) => problemWith(address, setting, found)).find(Boolean);
        if (problem !== undefined) throw new DatabaseUnusable(problem);
      } finally {
        await client.end().catch(() => undefined);
      }
      return { ...options, ssl, hasNamedStatements: false };
    });
  } catch (error) {
    if (error instanceof DatabaseUnusable) throw error;
    throw new DatabaseUnusable(describeRefusal(address, setting, toError(error)), {
      cause: error,
    });
  }
}

/** Opens the database for a start of the service, which has more patience. `tell` is called every few seconds meanwhile. */
export const openForStart = (url: string, tell: () => void): Promise<ConnectionOptions> =>
  tellWait(openOwnServer(url, "DATABASE_URL", startPatienceMs), tell);

function readAddress(url: string, setting: string): PostgresAddress {
  try {
    return readPostgresUrl(url, userInfo().username);
  } catch (error) {
    throw new DatabaseUnusable(`${setting} ${toError(error).message}`, { cause: error });
  }
}

async function readGivenFile(path: string, setting: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = toError(error);
    throw new DatabaseUnusable(
      `${setting} names the file ${path}, which can't be read (${code}).`,
      {
        cause: error,
      },
    );
  }
}

function problemWith(address: PostgresAddress, setting: string, found: Found): string | undefined {
  const { user, database } = address;
  const place = `PostgreSQL at ${placeOf(address)}`;
  if (found.version < oldestVersion)
    return `${place} is version ${found.version_text}. Quarterdeck needs ${oldestVersion} or newer.`;
  if (found.encoding !== "UTF8")
    return `The database ${database} of ${place} has the encoding ${found.encoding}. Create one with the encoding UTF8 and name it in ${setting}.`;
  if (found.is_standby)
    return `${place} is a standby, which takes no changes. Name the primary server in ${setting}.`;
  if (!found.may_create)
    return `${place} lets ${user} create nothing in the database ${database}. Run there, as its administrator: alter database ${pg.escapeIdentifier(database)} owner to ${pg.escapeIdentifier(user)}`;
  return undefined;
}
