// A database for a benchmark, and workers that are inserted into it: created over HTTP, each would run.
import { join } from "node:path";
import pg from "pg";
import { pino } from "pino";
import { startEmbeddedPostgres } from "../server/store/embedded/embedded-postgres.ts";

/** @returns its URL for `DATABASE_URL`, and a function that stops it */
export async function startDatabase(
  folder: string,
): Promise<{ url: string; stop(): Promise<void> }> {
  const { connection, stop } = await startEmbeddedPostgres({
    folder: join(folder, "postgres"),
    log: pino({ level: "silent" }),
  });
  const { host, user, password, port, database } = connection;
  const parameters = new URLSearchParams({ host, port: String(port) });
  return { url: `postgresql://${user}:${password}@/${database}?${parameters}`, stop };
}

/** Inserts stopped workers of the first site, evenly distributed over the queues. */
export async function storeWorkers(
  url: string,
  count: number,
  queues: readonly string[] = ["default"],
): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(
    `insert into workers (site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries,
       processes, directory, startsecs, stopwaitsecs, startretries, stopsignal, status)
     select 1, 'database', ($2::text[])[1 + n % cardinality($2::text[])], 0, 0, false, 128, 3, 60, 1, 1, '/srv/shop', 1, 65, 3,
       'TERM', 'stopped'
     from generate_series(1, $1::int) n`,
    [count, queues],
  );
  await client.query("vacuum analyze workers");
  await client.end();
}
