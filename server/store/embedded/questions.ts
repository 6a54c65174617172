// Queries of this folder to the database.
import { Client, DatabaseError } from "pg";
import type { Place } from "./place.ts";
import { databaseName, databaseUser, socketPort } from "./settings.ts";

export type Connection = {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  ssl: false;
};

const answerDeadlineMs = 2000;

/** Returns options for `pg.Pool`. */
export const connectionTo = (
  place: Place,
  password: string,
  database = databaseName,
): Connection => ({
  host: place.socketFolder,
  port: socketPort,
  user: databaseUser,
  password,
  database,
  // A PGSSLMODE in the environment is meant for other databases.
  ssl: false,
});

/**
 * Returns the version of the server, such as "18.4".
 * @throws when no server responds within two seconds
 */
export function askServer(place: Place, password: string): Promise<{ serverVersion: string }> {
  return withClient(connectionTo(place, password), async (client) => {
    const { rows } = await client.query<{ serverVersion: string }>(
      `select current_setting('server_version') as "serverVersion"`,
    );
    return rows[0] ?? { serverVersion: "" };
  });
}

/** Creates the service's own database where it is missing: after initdb, or after a crash right behind it. */
export function makeDatabase(place: Place, password: string): Promise<void> {
  return withClient(connectionTo(place, password, "postgres"), async (client) => {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [
      databaseName,
    ]);
    if (rowCount === 0) await client.query(`create database ${databaseName}`);
  });
}

/** Whether the server responded and rejected the role. */
export const isRefused = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code === "28P01" || error.code === "28000");

async function withClient<T>(connection: Connection, ask: (client: Client) => Promise<T>) {
  const client = new Client({ ...connection, connectionTimeoutMillis: answerDeadlineMs });
  // A connection that is lost between two queries; the next query fails anyway.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await ask(client);
  } finally {
    await client.end();
  }
}
