import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../clock.ts";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { isInTransit } from "../../contract/states.ts";
import { workerStates } from "../../contract/workers/worker.ts";
import { createLocalHost } from "../hosts/local.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { createInventoryStore } from "../inventory/store.ts";
import { createLog } from "../log.ts";
import { sql } from "../store/drizzle.ts";
import { events } from "../store/tables.ts";
import { storeInventory } from "../testing/store-inventory.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { createShiftedClock } from "../testing/shifted-clock.ts";
import { workerBody } from "../testing/worker-body.ts";
import { deadlineSeconds, isOverdue } from "./deadlines.ts";
import { createObserver } from "./observer.ts";
import type { SeenProcess } from "./outcome.ts";
import type { Runner } from "./runner.ts";
import { createWorkerService } from "./service.ts";
import { createWorkerStore } from "./store.ts";

const waits = { startsecs: 2, startretries: 3, stopwaitsecs: 10 };

test("every state in transit has a deadline, and no other", () => {
  for (const status of workerStates)
    expect(deadlineSeconds(status, waits) !== null, status).toBe(isInTransit(status));
});

test("a start may use all its tries and the waits between them", () => {
  const tries = 4 * 2 + (1 + 2 + 3);
  expect(deadlineSeconds("installing", waits)).toBeGreaterThan(tries);
  expect(deadlineSeconds("stopping", waits)).toBeGreaterThan(10);
});

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/** Takes every order and does nothing: the machine that hangs. */
const hanging: Runner = {
  resume: async () => undefined,
  start: () => undefined,
  stop: () => undefined,
  restart: () => undefined,
  deploy: () => undefined,
  remove: () => new Promise(() => undefined),
  known: () => [],
  follow: () => undefined,
  seen: () => null,
  list: () => [],
  readLog: async () => ({ text: "", start: 0, end: 0, rotated: false }),
};

/** Orders that reach nobody. */
const jobs: Pick<Jobs, "send"> = { send: async () => undefined };

/** A service of workers on such a machine, with a worker that was just made. */
async function createHanging(readLog: Runner["readLog"] = hanging.readLog) {
  await storeInventory(
    database.db,
    "servers: [{ id: 1, name: here, connection: local }]\nsites: [{ id: 1, server: 1, name: shop, root: /tmp }]",
  );
  const inventory = createInventoryStore(database.db);
  const store = createWorkerStore(database.db);
  const clock = createShiftedClock();
  const workers = createWorkerService({
    store,
    inventory,
    runner: { ...hanging, readLog },
    jobs,
    host: createLocalHost({}),
    clock,
    log: createLog("silent"),
  });
  const site = await inventory.findSite(1);
  if (site === null) throw new Error("The site is not there.");
  const { id } = await workers.create(site, workerBody);
  onTestFinished(() => workers.watch.stop());
  const show = () => store.byId(id);
  return {
    id,
    workers,
    clock,
    show,
    /** Lets the deadline pass, and one look more. */
    async expire() {
      const { deadline_at: at } = (await show()) ?? {};
      if (!at) throw new Error("The worker has no deadline.");
      clock.ahead(at.getTime() - systemClock.now());
      workers.watch.wake();
      await vi.waitFor(async () => expect((await show())?.deadline_at).toBeNull(), 20_000);
    },
  };
}

const overdue = /^Timed out: still installing after \d+ s\.$/;

test("a worker whose processes never come to anything has its time", async () => {
  const { show, workers, clock } = await createHanging();
  const { created_at: from, deadline_at: at } = (await show()) ?? {};
  const seconds = deadlineSeconds("installing", (await show()) ?? waits) ?? 0;
  expect((at?.getTime() ?? 0) - (from?.getTime() ?? 0)).toBeCloseTo(seconds * 1000, -4);

  clock.ahead((seconds - 5) * 1000);
  workers.watch.wake();
  await workers.watch.stop();
  expect((await show())?.status).toBe("installing");
});

test("a worker whose deadline has passed is failed, and says why", async () => {
  const { show, expire } = await createHanging();
  await expire();
  const failed = await show();
  expect(failed?.status).toBe("failed");
  expect(failed?.status_reason).toMatch(overdue);
});

const told = (id: number) =>
  database.db
    .select({ news: events.news })
    .from(events)
    .then((rows) => rows.filter(({ news }) => news.path === `/workers/${id}`));

test("a deadline works when the log cannot be read", async () => {
  const { id, expire, show } = await createHanging(() =>
    Promise.reject(new Error("EISDIR: illegal operation on a directory")),
  );
  await expire();
  expect(await show()).toMatchObject({ status: "failed" });
  expect((await show())?.status_reason).toMatch(overdue);
  expect(await told(id)).toMatchObject([{ news: { reason: (await show())?.status_reason } }]);
});

test("a deadline works when the log's last lines cannot be stored, whatever the cause", async () => {
  await database.db.execute(
    sql`alter table workers add constraint refused check (status_reason not like '%refused by a rule%')`,
  );
  const { id, expire, show } = await createHanging(async () => ({
    text: "refused by a rule",
    start: 0,
    end: 17,
    rotated: false,
  }));
  await expire();
  expect(await show()).toMatchObject({ status: "failed" });
  expect((await show())?.status_reason).toMatch(overdue);
  expect(await told(id)).toHaveLength(1);
});

test(
  "a deadline is exact to two seconds while 1,000 other workers come and go",
  { timeout: 90_000 },
  async () => {
    const { id, show } = await createHanging();
    await database.db.execute(sql`
    insert into workers (site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries, processes,
      startsecs, stopwaitsecs, startretries, stopsignal, status)
    select site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries, processes,
      startsecs, stopwaitsecs, startretries, stopsignal, 'installed' from workers, generate_series(1, 1000)
    where id = ${id}`);
    const { rows } = await database.db.execute<{ id: number }>(
      sql`select id from workers where status = 'installed'`,
    );
    // Each look finds the process in the other state: up, down, up.
    const transitions = new Map(rows.map((row) => [row.id, { transition: 1, looks: 0 }]));
    const log = createLog("silent");
    const flapping = createWorkerService({
      store: createWorkerStore(database.db),
      inventory: createInventoryStore(database.db),
      runner: {
        ...hanging,
        follow: (worker, transition) =>
          void Object.assign(transitions.get(worker) ?? {}, { transition }),
        seen(worker) {
          const one = transitions.get(worker);
          if (one === undefined) return null;
          const state = one.looks++ % 2 === 0 ? "EXITED" : "RUNNING";
          const process = {
            number: 1,
            state,
            reason: null,
            deployment: null,
            outages: [],
          } as const;
          return {
            transition: one.transition,
            processes: [{ ...process, isBetweenRuns: false, upAt: systemClock.now() }],
          };
        },
      },
      jobs,
      host: createLocalHost({}),
      clock: systemClock,
      log,
    });
    const observer = createObserver(flapping.observe, systemClock, log);
    flapping.watch.wake();
    const flap = setInterval(() => {
      for (const row of rows) observer.notice(row.id);
    }, 100);
    onTestFinished(async () => {
      clearInterval(flap);
      await observer.stop();
      await flapping.watch.stop();
    });

    // They do come and go.
    const moved = () => [...transitions.values()].filter(({ transition }) => transition > 1).length;
    await vi.waitFor(() => expect(moved()).toBeGreaterThan(100), { timeout: 60_000 });
    const dueAt = systemClock.now() + 1000;
    await database.db.execute(sql`
    update workers set deadline_at = ${new Date(dueAt).toISOString()} where id = ${id}`);

    // What a second's wait and a query take beyond that second, on a machine that may have other things to do.
    const lags = [0];
    await vi.waitFor(
      async () => {
        const from = performance.now();
        await wait(1000);
        const now = await show();
        lags.push(performance.now() - from - 1000);
        expect(now?.status).toBe("failed");
      },
      { timeout: 60_000, interval: 1 },
    );
    const { status_since: since } = (await show()) ?? {};
    const lateMs = (since?.getTime() ?? 0) - dueAt;
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(2000 + 5 * Math.max(...lags));
  },
);

const processOf = (change: Partial<SeenProcess>): SeenProcess => ({
  number: 1,
  state: "EXITED",
  reason: null,
  deployment: 7,
  isBetweenRuns: false,
  upAt: null,
  outages: [],
  ...change,
});

test.each<[string, Partial<SeenProcess>, boolean]>([
  ["runs", { state: "RUNNING" }, false],
  ["runs, on an older deployment than it must", { state: "RUNNING", deployment: 6 }, true],
  ["has just done its jobs", { isBetweenRuns: true }, false],
  ["was up meanwhile", { upAt: 2000 }, false],
  ["was up before, and not since", { upAt: 500 }, true],
  ["was never up", { state: "BACKOFF" }, true],
])("a process that %s has used up its time: %o %s", (_what, change, expected) => {
  expect(isOverdue(processOf(change), 7, 1000)).toBe(expected);
});
