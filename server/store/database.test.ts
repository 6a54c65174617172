import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { administer } from "../testing/service.ts";
import { openDatabase, type Connection } from "./database.ts";
import { eq, sql } from "./drizzle.ts";
import { SecondConnection } from "./guarded-pool.ts";
import { NewerSchema } from "./schema-version.ts";
import { settings } from "./tables/installation.ts";
import { toError } from "../to-error.ts";

test("instances that start together migrate one after the other", async () => {
  const other = `test_${randomUUID().replaceAll("-", "")}`;
  await administer(`create database ${other}`);
  const instances = await Promise.all(
    Array.from({ length: 4 }, () =>
      openDatabase({ ...inject("postgres"), database: other }, () => undefined),
    ),
  );
  for (const instance of instances) {
    await expect(instance.ping()).resolves.toBeUndefined();
    await instance.close();
  }
  await administer(`drop database ${other} with (force)`);
});

describe("a schema of another version", () => {
  const day = 24 * 3600 * 1000;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  const open = () => openDatabase(database.connection, () => undefined);
  const migrated = sql`select id, created_at from drizzle.__drizzle_migrations`;

  test("is used if it only adds, and refused otherwise", async () => {
    const breaking = Date.now() + 2 * day;
    await database.db.execute(
      sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('next', ${Date.now() + day})`,
    );
    const adjacent = await open();
    await adjacent.close();
    const before = (await database.db.execute(migrated)).rows;
    // The setting that a later version stores.
    await database.db
      .update(settings)
      .set({ value: String(breaking) })
      .where(eq(settings.key, "schema_last_breaking"));
    await expect(open()).rejects.toThrow(/was upgraded by a newer version of Quarterdeck/);
    await expect(open()).rejects.toBeInstanceOf(NewerSchema);
    // The state of a version that never stored anything.
    await database.db.delete(settings).where(eq(settings.key, "schema_last_breaking"));
    await expect(open()).rejects.toBeInstanceOf(NewerSchema);
    expect((await database.db.execute(migrated)).rows).toEqual(before);
  });

  test("is refused if the job engine's version is newer", async () => {
    await database.db.execute(sql`delete from drizzle.__drizzle_migrations where hash = 'next'`);
    await (await open()).close();
    await database.db.execute(sql`create schema if not exists pgboss`);
    await database.db.execute(sql`create table if not exists pgboss.version (version int)`);
    await database.db.execute(sql`delete from pgboss.version`);
    await database.db.execute(sql`insert into pgboss.version (version) values (100000)`);
    await expect(open()).rejects.toBeInstanceOf(NewerSchema);
  });
});

describe("a transaction is limited to its own connection", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  const byKey = eq(settings.key, sql.placeholder("key"));

  test.each<[string, () => Promise<unknown>]>([
    ["a query", async () => database.db.select().from(settings)],
    ["a count", async () => database.db.$count(settings)],
    ["a statement", async () => database.db.execute(sql`select 1`)],
    ["a change", async () => database.db.delete(settings)],
    [
      "a prepared query",
      async () => {
        const prepared = database.db.select().from(settings).where(byKey).prepare("by_key");
        return prepared.execute({ key: "a" });
      },
    ],
    ["a transaction of its own", async () => database.db.transaction(async () => undefined)],
    ["several at once", async () => Promise.all([database.ping(), database.ping()])],
  ])("%s through the pool fails inside", async (_, ask) => {
    await expect(ask()).resolves.not.toThrow();
    const inside = database.db.transaction(async () => ask());
    await expect(inside).rejects.toSatisfy(
      // Drizzle wraps the error of a query.
      (error) =>
        error instanceof SecondConnection || toError(error).cause instanceof SecondConnection,
    );
    expect(database.pool().idle).toBe(database.pool().open);
  });

  test("work that it started without awaiting may use the pool once it has ended", async () => {
    const ended = Promise.withResolvers<void>();
    let later: Promise<void> = Promise.reject(new Error("The transaction did not run."));
    later.catch(() => undefined);
    await database.db.transaction(async (tx) => {
      later = ended.promise.then(database.ping);
      await tx.execute(sql`select 1`);
    });
    ended.resolve();
    await expect(later).resolves.toBeUndefined();
  });

  test("other work can use the pool while it is open", async () => {
    const opened = Promise.withResolvers<Connection>();
    const asked = Promise.withResolvers<void>();
    const open = database.db.transaction(async (tx) => {
      opened.resolve(tx);
      await asked.promise;
    });
    await opened.promise;
    await expect(database.ping()).resolves.toBeUndefined();
    asked.resolve();
    await open;
  });

  test("with a callback for this the query continues and its place is reported", async () => {
    const reported: SecondConnection[] = [];
    const lenient = await openDatabase(
      database.connection,
      () => undefined,
      (error) => void reported.push(error),
    );
    await lenient.db.transaction(async () => lenient.ping());
    expect(reported).toHaveLength(1);
    expect(reported[0]?.cause).toMatchObject({
      stack: expect.stringContaining("database.test.ts"),
    });
    await lenient.close();
  });
});

test("a connection lost inside a transaction fails only that transaction", async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const transaction = database.db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    // No query is running at that time.
    await administer(`select pg_terminate_backend(${rows[0]?.pid}, 60000)`);
    await tx.execute(sql`select 1`);
  });
  await expect(transaction).rejects.toThrow("Failed query");
  await expect(database.ping()).resolves.toBeUndefined();
});

test("transactions that cannot begin return their connections to the pool", async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const none = async () => undefined;
  for (let count = 0; count <= database.pool().max; count += 1)
    await expect(
      // PostgreSQL rejects the statement, as a pooler rejects any while its database is unavailable.
      database.db.transaction(none, { isolationLevel: "unknown" as "serializable" }),
    ).rejects.toThrow("begin");
  await expect(database.ping()).resolves.toBeUndefined();
});

test("a transaction whose client hangs does not keep its locks", async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  await database.db.insert(settings).values({ key: "locked", value: "before" });
  const set = (tx: Connection, value: string) => tx.update(settings).set({ value }).where(byKey);
  const byKey = eq(settings.key, "locked");
  const locked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const hung = database.db.transaction(async (tx) => {
    await set(tx, "hung");
    locked.resolve();
    await goOn.promise;
    await set(tx, "late");
  });
  await locked.promise;
  await set(database.db, "after");
  goOn.resolve();
  await expect(hung).rejects.toThrow("Failed query");
  expect(await database.db.select().from(settings).where(byKey)).toMatchObject([
    { value: "after" },
  ]);
});
