// Connects tests to a database directly.
import pg from "pg";

/** Opens a connection for the duration of `run`. */
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
