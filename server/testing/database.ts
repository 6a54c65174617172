// Creates a migrated database for tests that need no service.
import type pg from "pg";
import { inject } from "vitest";
import { openDatabase, type OpenDatabase } from "../store/database.ts";
import { administer, createDatabase } from "./service.ts";

export type TestDatabase = OpenDatabase & { connection: pg.PoolConfig };

export async function createTestDatabase(): Promise<TestDatabase> {
  const database = await createDatabase();
  // A long timeout, because on a busy machine hundreds of queries may wait for a connection, and no user does.
  const connection = { ...inject("postgres"), database, connectionTimeoutMillis: 60_000 };
  const opened = await openDatabase(connection, () => undefined);
  return {
    ...opened,
    connection,
    async close() {
      await opened.close();
      await administer(`drop database ${database} with (force)`);
    },
  };
}
