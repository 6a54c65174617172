// What this folder asks the database itself.
import { Client } from "pg";
import type { Place } from "./place.ts";
import { databaseName, databaseUser, socketPort } from "./settings.ts";

export type Connection = {
  host: string;
  port: number;
  user: string;
  database: string;
  ssl: false;
};

const answerDeadlineMs = 2000;

/** For `pg.Pool`. Without a password: see "Who may connect" in settings.ts. */
export const connectionTo = (place: Place, database = databaseName): Connection => ({
  host: place.socketFolder,
  port: socketPort,
  user: databaseUser,
  database,
  // A PGSSLMODE in the environment is meant for other databases.
  ssl: false,
});

/** The version that answers, e.g. "18.4". Throws when nothing answers within two seconds. */
export function askServer(place: Place): Promise<{ serverVersion: string }> {
  return withClient(connectionTo(place), async (client) => {
    const { rows } = await client.query<{ serverVersion: string }>(
      `select current_setting('server_version') as "serverVersion"`,
    );
    return rows[0] ?? { serverVersion: "" };
  });
}

/** Makes the service's own database where it is missing: after initdb, or a crash right behind it. */
export function makeDatabase(place: Place): Promise<void> {
  return withClient(connectionTo(place, "postgres"), async (client) => {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [
      databaseName,
    ]);
    if (rowCount === 0) await client.query(`create database ${databaseName}`);
  });
}

async function withClient<T>(connection: Connection, ask: (client: Client) => Promise<T>) {
  const client = new Client({ ...connection, connectionTimeoutMillis: answerDeadlineMs });
  // A connection lost between two questions; the question itself fails too.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await ask(client);
  } finally {
    await client.end();
  }
}
