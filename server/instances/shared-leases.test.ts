import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { systemClock } from "../clock.ts";
import { createLog } from "../log.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { oneOfMany } from "../testing/instance.ts";
import { createSharedLeases } from "./shared-leases.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test("an instance lives on while it begins with servers, however long that takes", async () => {
  await database.db.execute(
    `insert into servers (id, name, entry) values (1, 'here', '{"connection": "local"}')`,
  );
  const log = createLog("silent");
  const listener = { on: () => undefined, stop: async () => undefined };
  const instance = { ...oneOfMany, home: randomUUID() };
  const leases = createSharedLeases({ ...database, listener, instance, clock: systemClock, log });
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const starting = leases.start({
    isBusy: () => false,
    taken() {
      begun.resolve();
      return goOn.promise;
    },
    lost: async () => undefined,
    abandoned: async () => undefined,
  });
  await begun.promise;
  const until = async () => {
    const { rows } = await database.db.execute<{ until: string }>("select until from instances");
    return rows[0]?.until;
  };
  const first = await until();
  expect(first).toBeDefined();
  await vi.waitFor(async () => expect(await until()).not.toBe(first), { timeout: 60_000 });
  goOn.resolve();
  await starting;
  await leases.release();
  expect(await until()).toBeUndefined();
});
