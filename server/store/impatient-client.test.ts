import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../backups/testing/postgres-server.ts";
import { startCuttableLink, type CuttableLink } from "../testing/cuttable-link.ts";
import { describeDatabaseError } from "./database-error.ts";
import { migrationLock, openDatabase, type OpenDatabase } from "./database.ts";
import { sql } from "./drizzle.ts";

describe.skipIf(!hasPostgresServer)("a database that does not respond", () => {
  const cleanUps: (() => Promise<void>)[] = [];
  let server: PostgresServer;
  let link: CuttableLink;
  let options: { connectionString: string; max: number };
  let database: OpenDatabase;
  beforeAll(async () => {
    server = await startPostgresServer();
    cleanUps.push(() => server.stop());
    await server.createDatabase("own");
    link = await startCuttableLink(server.port);
    cleanUps.push(() => link.close());
    const url = new URL(server.url("own"));
    url.port = String(link.port);
    options = { connectionString: url.href, max: 2 };
    database = await openDatabase({ ...options, silenceLimitMs: 5000 }, () => undefined);
    cleanUps.push(() => database.close());
  });
  afterAll(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });

  test("fails the pending queries, and executes new ones once it responds", async () => {
    const { db } = database;
    const inside = Promise.withResolvers<void>();
    const cut = Promise.withResolvers<void>();
    const transaction = db.transaction(async (tx) => {
      await tx.execute(sql`select 1`);
      inside.resolve();
      await cut.promise;
      await tx.execute(sql`select 2`);
    });
    await inside.promise;
    await database.ping();
    link.silence();
    cut.resolve();
    const told = [transaction, database.ping()].map((waiting) =>
      waiting.then(() => null, describeDatabaseError),
    );
    for (const text of await Promise.all(told))
      expect(text).toMatch(/^The database is not responding/);
    link.mend();
    await expect
      .poll(() =>
        database.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect(database.pool()).toMatchObject({ waiting: 0 });
  });

  test("does not fail changes of the schema, however long they take", async () => {
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    const holding = Promise.withResolvers<void>();
    const holder = database.db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${migrationLock})`);
      holding.resolve();
      await isFree;
    });
    await holding.promise;
    const opening = openDatabase({ ...options, silenceLimitMs: 100 }, () => undefined);
    await expect
      .poll(() =>
        server.query(
          "own",
          "select from pg_stat_activity where wait_event = 'advisory' and clock_timestamp() - query_start > interval '500 ms'",
        ),
      )
      .toHaveLength(1);
    free();
    await holder;
    await (await opening).close();
  });
});
