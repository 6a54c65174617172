// What a test asks a database by itself.
import pg from "pg";

/** A connection of its own, for as long as `run` takes. */
export async function withClient<T>(
  connection: pg.ClientConfig,
  run: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection);
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}
