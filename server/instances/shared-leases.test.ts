import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { systemClock } from "../clock.ts";
import { createLog } from "../log.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { oneOfMany } from "../testing/instance.ts";
import { withClient } from "../testing/with-client.ts";
import { LeaseLost } from "./leases.ts";
import { createSharedLeases } from "./shared-leases.ts";
import { soon } from "../testing/soon.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/** Creates an instance on its own machine. */
const createInstance = () =>
  createSharedLeases({
    ...database,
    listener: { on: () => undefined, stop: async () => undefined },
    instance: { ...oneOfMany, home: randomUUID() },
    secretHash: "",
    clock: systemClock,
    log: createLog("silent"),
  });

test("an instance sends heartbeats while it starts with servers, however long that takes", async () => {
  await database.db.execute(
    `insert into servers (id, name, entry) values (1, 'here', '{"connection": "local"}')`,
  );
  const leases = createInstance();
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const starting = leases.start({
    isBusy: () => false,
    taken() {
      begun.resolve();
      return goOn.promise;
    },
    lost: async () => undefined,
    regained: async () => undefined,
    abandoned: async () => undefined,
  });
  await begun.promise;
  const until = async () => {
    const { rows } = await database.db.execute<{ until: string }>("select until from instances");
    return rows[0]?.until;
  };
  const first = await until();
  expect(first).toBeDefined();
  await soon(async () => expect(await until()).not.toBe(first));
  goOn.resolve();
  await starting;
  await leases.release();
  expect(await until()).toBeUndefined();
});

test("an instance whose database does not respond releases its servers before others take them", async () => {
  await database.db.execute(
    `insert into servers (id, name, entry) values (2, 'there', '{"connection": {"ssh": {}}}')`,
  );
  const leases = createInstance();
  const taken: number[] = [];
  const lost = Promise.withResolvers<readonly number[]>();
  await leases.start({
    isBusy: () => false,
    taken: async (ids) => void taken.push(...ids),
    lost: async (ids) => lost.resolve(ids),
    regained: async () => undefined,
    abandoned: async () => undefined,
  });
  expect(taken).toContain(2);
  expect(leases.elsewhere()).not.toContain(2);
  // The renewal waits for its locked row, and gets no response.
  await withClient(database.connection, async (other) => {
    await other.query("begin");
    await other.query("select from instances for update");
    const isOver = async () => {
      const { rows } = await other.query(
        "select until <= clock_timestamp() as over from instances",
      );
      return rows[0]?.over === true;
    };
    await vi.waitUntil(isOver, { timeout: 60_000 });
    expect(leases.has(2)).toBe(false);
    expect(leases.elsewhere()).toContain(2);
    expect(await lost.promise).toEqual([2]);
    await other.query("rollback");
  });
  await leases.release();
});

test("an instance that reports a server without an owner withdraws that once there is one", async () => {
  await database.db.execute(
    `insert into servers (id, name, entry) values (3, 'back', '{"connection": "local"}')`,
  );
  const owner = createInstance();
  const finder = createInstance();
  const say = () => database.db.transaction((tx) => finder.holdFree(tx, 3));
  await say();
  await owner.start({
    isBusy: () => false,
    taken: async () => undefined,
    lost: async () => undefined,
    regained: async () => undefined,
    abandoned: async () => undefined,
  });
  expect(owner.has(3)).toBe(true);
  await expect(say()).rejects.toThrow(LeaseLost);
  await owner.release();
  await say();
});

test("an instance does not own a server that it could not start with, and retries it", async () => {
  const leases = createInstance();
  const told: string[] = [];
  let fails = false;
  const has = () => [4, 5].filter(leases.has);
  await leases.start({
    isBusy: () => false,
    async taken(ids) {
      told.push(`taken ${ids.join()}`);
      if (!fails) return;
      fails = false;
      throw new Error("The database went away.");
    },
    async lost(ids) {
      expect(has()).toEqual([]);
      told.push(`lost ${ids.join()}`);
    },
    regained: async () => undefined,
    abandoned: async () => undefined,
  });
  told.length = 0;
  fails = true;
  await database.db.execute(
    `insert into servers (id, name, entry) values (4, 'own', '{"connection": "local"}'), (5, 'far', '{"connection": {"ssh": {}}}')`,
  );
  leases.wake();
  await soon(() => expect(told).toHaveLength(3));
  expect(told).toEqual(["taken 4,5", "lost 4,5", "taken 4,5"]);
  expect(has()).toEqual([4, 5]);
  await leases.release();
});

test("an instance that was considered dead claims its own machine again until that is recorded", async () => {
  await database.db.execute(
    `insert into servers (id, name, entry) values (6, 'home', '{"connection": "local"}'), (7, 'away', '{"connection": {"ssh": {}}}')`,
  );
  const leases = createInstance();
  const told: string[] = [];
  let fails = true;
  await leases.start({
    isBusy: () => false,
    taken: async (ids) => void told.push(`taken ${ids.join()}`),
    lost: async (ids) => void told.push(`lost ${ids.join()}`),
    async regained(ids) {
      told.push(`regained ${ids.join()}`);
      if (!fails) return;
      fails = false;
      throw new Error("The database went away.");
    },
    abandoned: async () => undefined,
  });
  const own = told.splice(0).join().replace("taken ", "").split(",");
  expect(own).toEqual(expect.arrayContaining(["6", "7"]));
  await database.db.execute("delete from instances");
  leases.wake();
  const of = (what: string) => told.filter((one) => one.startsWith(what));
  await soon(() => expect(of("regained")).toHaveLength(2));
  const [first = "", again] = of("regained");
  expect(first).toMatch(/^regained (?:\d+,)*6$/);
  expect(again).toBe(first);
  // A server over SSH may have had another instance meanwhile; the local server may not.
  for (const what of ["lost", "taken"])
    await soon(() => expect(of(what).at(-1)).toMatch(/ (?:\d+,)*7$/));
  expect(told.filter((one) => /^(?:lost|taken) .*\b6\b/.test(one))).toEqual([]);
  expect(leases.has(6)).toBe(true);
  leases.wake();
  await leases.release();
  expect(of("regained")).toHaveLength(2);
});
