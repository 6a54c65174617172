// Data that measurements back up, and that compresses by half.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { startPostgresServer } from "../server/backups/testing/postgres-server.ts";

export const megabyte = 1_000_000;

export async function writeHalfRandom(path: string, bytes: number): Promise<void> {
  const file = createWriteStream(path);
  const text = Buffer.alloc(500_000, "the quick brown fox jumps over the lazy dog\n");
  for (let written = 0; written < bytes; written += 1_000_000) {
    if (!file.write(randomBytes(500_000))) await once(file, "drain");
    if (!file.write(text)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
}

/**
 * Creates a table with rows of about 500 bytes, half of them random digits.
 * @param size in MB
 */
export const writeOrders = (
  postgres: Pick<Awaited<ReturnType<typeof startPostgresServer>>, "query">,
  database: string,
  size: number,
): Promise<unknown> =>
  postgres.query(
    database,
    `create table orders as select i as id, repeat('quarterdeck ', 20) as note,
      md5(i::text) || md5((i * 7)::text) || md5((i * 13)::text) || md5((i * 17)::text) || md5((i * 19)::text) || md5((i * 23)::text) || md5((i * 29)::text) as noise
      from generate_series(1, ${Math.round((size * megabyte) / 500)}) i; alter table orders add primary key (id)`,
  );
