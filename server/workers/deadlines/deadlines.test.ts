import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../clock.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { isInTransit } from "../../../contract/states.ts";
import { workerStates } from "../../../contract/workers/worker.ts";
import { createLocalHost } from "../../hosts/local.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import { createInventoryStore } from "../../inventory/store.ts";
import { createLog } from "../../log.ts";
import { gt, sql } from "../../store/drizzle.ts";
import { events } from "../../store/tables/events.ts";
import { workers } from "../../store/tables/workers.ts";
import { isLongForm } from "../../testing/long-form.ts";
import { storeInventory } from "../../testing/store-inventory.ts";
import { createTestDatabase, type TestDatabase } from "../../testing/database.ts";
import { createShiftedClock } from "../../testing/shifted-clock.ts";
import { workerBody } from "../../testing/worker-body.ts";
import { deadlineSeconds, isOverdue } from "./deadlines.ts";
import type { ProcessListener, ProcessStatus } from "../processes/process-manager.ts";
import type { ProcessManagers } from "../processes/process-managers.ts";
import { soleLeases } from "../../instances/leases.ts";
import { createWorkerService } from "../service.ts";
import { createWorkerStore } from "../store.ts";
import { soon } from "../../testing/soon.ts";

const waits = { startsecs: 2, startretries: 3, stopwaitsecs: 10, processes: 1 };

test("every state in transit has a deadline, and no other state", () => {
  for (const status of workerStates)
    expect(deadlineSeconds(status, waits) !== null, status).toBe(isInTransit(status));
});

test("a start may use all its retries and the waits between them", () => {
  const tries = 4 * 2 + (1 + 2 + 3);
  expect(deadlineSeconds("installing", waits)).toBeGreaterThan(tries);
  expect(deadlineSeconds("stopping", waits)).toBeGreaterThan(10);
});

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/** Accepts orders and does nothing, like a machine that hangs. */
const hanging: ProcessManagers = {
  follow: async () => [],
  noteReached: () => undefined,
  know: () => undefined,
  knowAll: async () => undefined,
  resume: async () => undefined,
  take: async () => undefined,
  leave: () => [],
  start: () => undefined,
  stop: async () => undefined,
  restart: async () => undefined,
  deploy: async () => undefined,
  change: async () => undefined,
  undo: async () => undefined,
  withdraw: () => undefined,
  remove: () => new Promise(() => undefined),
  known: () => [],
  processes: () => [],
  usage: () => ({ starts: [], samples: [] }),
  usageEvery: 15,
  readLog: async () => ({ text: "", start: 0, end: 0, rotated: false }),
  refusal: async () => null,
  away: () => null,
  seenAt: () => Infinity,
  hasTaken: () => true,
  notice: () => null,
  stopAll: async () => undefined,
  release: () => undefined,
};

/** Drops jobs. */
const jobs: Pick<Jobs, "send"> = { send: async () => undefined };

const noMachine = () => {
  throw new Error("No program of supervisord is taken over here.");
};

/** Creates the service of workers on such a machine, with a new worker. */
async function createHanging(does: Partial<ProcessManagers> = {}) {
  await storeInventory(
    database.db,
    "servers: [{ id: 1, name: here, connection: local }]\nsites: [{ id: 1, server: 1, name: shop, root: /tmp }]",
  );
  const inventory = createInventoryStore(database.db);
  const store = createWorkerStore(database.db, soleLeases);
  const clock = createShiftedClock();
  let looks = 0;
  let missedLooks = 0;
  let removals = 0;
  const workers = createWorkerService({
    store: {
      ...store,
      timed(untilMs) {
        looks += 1;
        return store.timed(untilMs).catch((error: unknown) => {
          missedLooks += 1;
          throw error;
        });
      },
      async remove(row) {
        await store.remove(row);
        removals += 1;
      },
    },
    leases: soleLeases,
    inventory,
    createManager: () => ({ ...hanging, ...does }),
    machineOf: noMachine,
    jobs,
    servers: { open: async () => createLocalHost({}) },
    clock,
    log: createLog("silent"),
  });
  const site = await inventory.findSite(1);
  if (site === null) throw new Error("The site is not there.");
  const { id } = await workers.create(site, workerBody);
  onTestFinished(() => workers.close("keep"));
  const show = () => store.byId(id);
  return {
    id,
    workers,
    clock,
    show,
    /** Number of queries for overdue workers. */
    looks: () => looks,
    /** Number of these queries that failed. */
    missedLooks: () => missedLooks,
    /** Number of completed deletions. */
    removals: () => removals,
    /** Lets the deadline pass, in steps that are too short to be taken for a suspension of the service. */
    expire: () =>
      soon(async () => {
        clock.ahead(2000);
        workers.wake();
        expect((await show())?.deadline_at).toBeNull();
      }),
  };
}

const overdue = /^Timed out: still installing after \d+ s\.$/;

test("a worker whose processes never settle gets its full time", async () => {
  const { show, workers, clock } = await createHanging();
  const { created_at: from, deadline_at: at } = (await show()) ?? {};
  const seconds = deadlineSeconds("installing", (await show()) ?? waits) ?? 0;
  expect((at?.getTime() ?? 0) - (from?.getTime() ?? 0)).toBeCloseTo(seconds * 1000, -4);

  clock.ahead((seconds - 5) * 1000);
  workers.wake();
  await workers.close("keep");
  expect((await show())?.status).toBe("installing");
});

test("a worker whose deadline has passed is failed, with the reason", async () => {
  const { show, expire } = await createHanging();
  await expire();
  const failed = await show();
  expect(failed?.status).toBe("failed");
  expect(failed?.status_reason).toMatch(overdue);
});

test.each([
  ["passes", 0],
  ["comes near", -5000],
])("extends a deadline that %s while the database is unavailable", async (_, afterMs) => {
  const { show, workers, clock, missedLooks, expire } = await createHanging();
  const at = (await show())?.deadline_at ?? new Date(0);
  await database.db.execute(sql`alter table workers rename to workers_away`);
  try {
    clock.ahead(at.getTime() + afterMs - systemClock.now());
    workers.wake();
    await soon(() => expect(missedLooks()).toBeGreaterThan(0));
  } finally {
    await database.db.execute(sql`alter table workers_away rename to workers`);
  }
  workers.wake();
  await soon(async () => expect((await show())?.deadline_at?.getTime()).not.toBe(at.getTime()));
  const later = await show();
  expect(later?.status).toBe("installing");
  expect(later?.deadline_at?.getTime()).toBeGreaterThan(clock.now());
  // The deadline is restarted only once.
  await expire();
  expect((await show())?.status_reason).toMatch(overdue);
});

test.each([
  ["passes", 0],
  ["comes near", -500],
])("extends a deadline that %s while the service is paused", async (_, afterMs) => {
  const { show, workers, clock, looks, expire } = await createHanging();
  const at = (await show())?.deadline_at ?? new Date(0);
  workers.wake();
  // The first turn has ended once the second one begins.
  await soon(() => expect(looks()).toBeGreaterThan(1));
  clock.ahead(at.getTime() + afterMs - clock.now());
  await soon(async () => expect((await show())?.deadline_at?.getTime()).not.toBe(at.getTime()));
  const later = await show();
  expect(later?.status).toBe("installing");
  expect(later?.deadline_at?.getTime()).toBeGreaterThan(clock.now());
  // The deadline is restarted only once.
  await expire();
  expect((await show())?.status_reason).toMatch(overdue);
});

test("extends a deadline that passes while the database hangs", async () => {
  const { show, workers, clock, looks } = await createHanging();
  const at = (await show())?.deadline_at ?? new Date(0);
  workers.wake();
  await soon(() => expect(looks()).toBeGreaterThan(1));
  await database.db.transaction(async (tx) => {
    const before = looks();
    await tx.execute(sql`lock table workers in access exclusive mode`);
    await soon(() => expect(looks()).toBeGreaterThan(before));
    clock.ahead(at.getTime() - clock.now());
  });
  await soon(async () => expect((await show())?.deadline_at?.getTime()).not.toBe(at.getTime()));
  expect((await show())?.status).toBe("installing");
});

test.each<[string, boolean]>([
  ["takes the worker with it", false],
  ["does not affect a worker with a later order", true],
])("a deletion that completes after its deadline %s", async (_, isOrdered) => {
  const removal = Promise.withResolvers<void>();
  const { id, workers, show, expire, removals } = await createHanging({
    remove: () => removal.promise,
  });
  await expire();
  await workers.remove(id);
  const { transition = 0 } = (await show()) ?? {};
  await workers.apply({ id, transition, server_id: 1 });
  await expire();
  expect(await show()).toMatchObject({ status: "failed" });
  if (isOrdered) await workers.start(id);
  removal.resolve();
  await soon(() => expect(removals()).toBe(1));
  expect((await show())?.status).toBe(isOrdered ? "starting" : undefined);
});

const eventsOf = (id: number) =>
  database.db
    .select({ notification: events.notification })
    .from(events)
    .then((rows) => rows.filter(({ notification }) => notification.path === `/workers/${id}`));

test("a deadline works even if the log is unreadable", async () => {
  const { id, expire, show } = await createHanging({
    readLog: () => Promise.reject(new Error("EISDIR: illegal operation on a directory")),
  });
  await expire();
  expect(await show()).toMatchObject({ status: "failed" });
  expect((await show())?.status_reason).toMatch(overdue);
  expect(await eventsOf(id)).toMatchObject([
    { notification: { reason: (await show())?.status_reason } },
  ]);
});

test("a deadline works even if the log's last lines cannot be stored, whatever the cause", async () => {
  await database.db.execute(
    sql`alter table workers add constraint refused check (status_reason not like '%refused by a rule%')`,
  );
  const { id, expire, show } = await createHanging({
    readLog: async () => ({ text: "refused by a rule", start: 0, end: 17, rotated: false }),
  });
  await expire();
  expect(await show()).toMatchObject({ status: "failed" });
  expect((await show())?.status_reason).toMatch(overdue);
  expect(await eventsOf(id)).toHaveLength(1);
});

const others = isLongForm ? 1000 : 200;

test(
  `a deadline is accurate to two seconds while ${others} other workers change state`,
  { timeout: 90_000 },
  async () => {
    const { id, show } = await createHanging();
    const expireAt = (atMs: number) =>
      database.db.execute(
        sql`update workers set deadline_at = ${new Date(atMs).toISOString()} where id = ${id}`,
      );
    // Not before the others are flapping, which may take a while.
    await expireAt(systemClock.now() + 3_600_000);
    await database.db.execute(sql`
    insert into workers (site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries, processes,
      startsecs, stopwaitsecs, startretries, stopsignal, status)
    select site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries, processes,
      startsecs, stopwaitsecs, startretries, stopsignal, 'installed' from workers, generate_series(1, ${others})
    where id = ${id}`);
    const { rows } = await database.db.execute<{ id: number }>(
      sql`select id from workers where status = 'installed'`,
    );
    // The processes of the inserted workers alternate between down and up with each call. All others never come up.
    const looks = new Map(rows.map((row) => [row.id, 0]));
    const manager: ProcessManagers = {
      ...hanging,
      processes(worker) {
        const looked = looks.get(worker);
        if (looked === undefined) return [processOf({ state: "BACKOFF" })];
        looks.set(worker, looked + 1);
        const state = looked % 2 === 0 ? "EXITED" : "RUNNING";
        return [processOf({ state, upAt: systemClock.now() })];
      },
    };
    const created = Promise.withResolvers<ProcessListener>();
    const flapping = createWorkerService({
      store: createWorkerStore(database.db, soleLeases),
      leases: soleLeases,
      inventory: createInventoryStore(database.db),
      machineOf: noMachine,
      createManager(listener) {
        created.resolve(listener);
        return manager;
      },
      jobs,
      servers: { open: async () => createLocalHost({}) },
      clock: systemClock,
      log: createLog("silent"),
    });
    await flapping.take(null);
    flapping.wake();
    const { onChange } = await created.promise;
    const flap = setInterval(() => {
      for (const row of rows) onChange(row.id);
    }, 100);
    onTestFinished(async () => {
      clearInterval(flap);
      await flapping.close("keep");
    });

    // Waits until many of them are flapping.
    const moved = () => database.db.$count(workers, gt(workers.transition, 2));
    await soon(async () => expect(await moved()).toBeGreaterThan(100));
    const dueAt = systemClock.now() + 1000;
    await expireAt(dueAt);

    // How much longer than a second a wait of one second and a query take, because the machine may be busy.
    const lags = [0];
    await soon(async () => {
      const from = performance.now();
      await wait(1000);
      const now = await show();
      lags.push(performance.now() - from - 1000);
      expect(now?.status).toBe("failed");
    });
    const { status_since: since } = (await show()) ?? {};
    const lateMs = (since?.getTime() ?? 0) - dueAt;
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(2000 + 5 * Math.max(...lags));
  },
);

const processOf = (change: Partial<ProcessStatus>): ProcessStatus => ({
  number: 1,
  pid: null,
  state: "EXITED",
  since: new Date(0),
  exitCode: null,
  restarts: 0,
  reason: null,
  deployment: 7,
  settings: 0,
  isBetweenRuns: false,
  upAt: null,
  outages: [],
  lastEnd: null,
  ...change,
});

test.each<[string, Partial<ProcessStatus>, boolean]>([
  ["runs", { state: "RUNNING" }, false],
  ["runs an older deployment than required", { state: "RUNNING", deployment: 6 }, true],
  ["has just done its jobs", { isBetweenRuns: true }, false],
  ["was up meanwhile", { upAt: 2000 }, false],
  ["was up only before", { upAt: 500 }, true],
  ["was never up", { state: "BACKOFF" }, true],
])("whether a process that %s has exceeded its time: %o %s", (_what, change, expected) => {
  expect(isOverdue(processOf(change), 7, 1000)).toBe(expected);
});
