// Two instances on one database, each with its own pg-boss.
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sql } from "../store/drizzle.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { startTestJobs } from "../testing/jobs.ts";
import type { Claim } from "./job-runner.ts";
import type { Jobs } from "./jobs.ts";
import type { SingletonQueue, SingletonQueueWork } from "./singleton-queue.ts";
import { soon } from "../testing/soon.ts";

const stopped = new Error("The test is over.");

let database: TestDatabase;
let instances: Jobs[];
beforeEach(async () => {
  database = await createTestDatabase();
  instances = [await startTestJobs(database), await startTestJobs(database)];
});
afterEach(async () => {
  for (const { deliveries } of instances) await deliveries.stop(stopped);
  for (const jobs of instances) await jobs.stop(0);
  await database.close();
});

const queues = (): SingletonQueue[] => instances.map(({ deliveries }) => deliveries);
const queue = (): SingletonQueue => {
  const [first] = queues();
  if (first === undefined) throw new Error("There is no instance.");
  return first;
};
const ensure = (key: number, delayMs = 0) =>
  database.db.transaction((tx) => queue().ensure(tx, [{ key, delayMs }]));
/** Both instances do the same work. */
const workAll = (work: SingletonQueueWork) => {
  for (const one of queues()) one.work(work);
};
const nothingLeft = async () => null;

const jobsOf = async (key: number) => {
  const { rows } = await database.db.execute<{ state: string; attempt: number }>(sql`
    select state::text as state, retry_count as attempt from pgboss.job
    where name = 'webhook.deliveries' and singleton_key = ${String(key)} and state <= 'active'`);
  return rows;
};

test("a key has one job at a time over all instances, however often it is requested", async () => {
  const running = new Set<number>();
  let most = 0;
  const done = new Map<number, number>();
  workAll({
    async perform(key) {
      expect(running.has(key)).toBe(false);
      running.add(key);
      most = Math.max(most, running.size);
      await wait(2);
      running.delete(key);
      done.set(key, (done.get(key) ?? 0) + 1);
    },
    next: nothingLeft,
  });
  await Promise.all(Array.from({ length: 200 }, (_, index) => ensure(index % 10)));
  await soon(async () => {
    expect(done.size).toBe(10);
    for (let key = 0; key < 10; key++) expect(await jobsOf(key)).toEqual([]);
  });
  expect(most).toBeGreaterThan(1);
});

test("work that arrives while a job runs is seen by it or by the next one, never by none", async () => {
  // The work is stored in a row; each change of it ensures a job in its transaction.
  await database.db.execute(sql`create table todo (key int primary key, many int not null)`);
  await database.db.execute(sql`insert into todo values (1, 0)`);
  let done = 0;
  workAll({
    async perform() {
      const { rows } = await database.db.execute<{ many: number }>(sql`select many from todo`);
      done = rows[0]?.many ?? 0;
    },
    async next(tx) {
      const { rows } = await tx.execute<{ many: number }>(sql`select many from todo`);
      return rows[0]?.many === done ? null : { delayMs: 0 };
    },
  });
  for (let many = 1; many <= 100; many++)
    await database.db.transaction(async (tx) => {
      await queue().ensure(tx, [{ key: 1, delayMs: 0 }]);
      await tx.execute(sql`update todo set many = ${many}`);
      // The job may be about to end.
      if (many % 3 === 0) await wait(3);
    });
  await soon(() => expect(done).toBe(100));
  await soon(async () => expect(await jobsOf(1)).toEqual([]));
});

test("a delayed job starts sooner when there is work for now, and never later", async () => {
  const begun: number[] = [];
  await ensure(1, 3_600_000);
  await ensure(2, 3_600_000);
  workAll({ perform: async (key) => void begun.push(key), next: nothingLeft });
  await ensure(2, 0);
  await ensure(2, 7_200_000);
  await soon(() => expect(begun).toEqual([2]));
  expect(await jobsOf(1)).toEqual([{ state: "created", attempt: 0 }]);
});

test("a runner whose claim was lost no longer holds it, and the end of its job changes nothing", async () => {
  const claims: Claim[] = [];
  const release = Promise.withResolvers<void>();
  queues()[0]?.work({
    async perform(_, claim) {
      claims.push(claim);
      // The first runner only returns after its claim is lost.
      if (claims.length === 1) await release.promise;
    },
    next: async () => ({ delayMs: 3_600_000 }),
  });
  await ensure(1);
  await soon(() => expect(claims).toHaveLength(1));
  // As pg-boss does when a heartbeat is missing.
  await database.db.execute(sql`
    update pgboss.job set state = 'retry', start_after = now() + interval '1 hour' where singleton_key = '1'`);
  const held = await database.db.transaction((tx) => queue().hold(tx, claims));
  expect([...held]).toEqual([]);
  release.resolve();
  await queue().stop(stopped);
  expect(await jobsOf(1)).toEqual([{ state: "retry", attempt: 0 }]);
});

test("a runner that gets its own job again ends its work for the previous claim, which is no longer held", async () => {
  const claims: Claim[] = [];
  const ended: number[] = [];
  const signals: AbortSignal[] = [];
  queue().work({
    async perform(_, claim, signal) {
      claims.push(claim);
      signals.push(signal);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      ended.push(claim.attempt);
    },
    next: nothingLeft,
  });
  await ensure(1);
  await soon(() => expect(claims).toHaveLength(1));
  // As pg-boss does when heartbeats are missing.
  await database.db.execute(sql`
    update pgboss.job set state = 'retry', start_after = now() where singleton_key = '1'`);
  queue().wake();
  await soon(() => expect(ended).toEqual([0]));
  const held = await database.db.transaction((tx) => queue().hold(tx, claims));
  expect([...held]).toEqual([{ id: claims[0]?.id, attempt: 1 }]);
  // The second claim is still held.
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  queue().abort(1, stopped);
  await soon(() => expect(ended).toEqual([0, 1]));
});

test("slow jobs leave room for others", async () => {
  const begun: number[] = [];
  queues()[0]?.work({
    async perform(key, _, signal) {
      begun.push(key);
      // Slow jobs run until the end of the test.
      if (key < 1000) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
    next: nothingLeft,
  });
  await database.db.transaction((tx) =>
    queue().ensure(
      tx,
      Array.from({ length: 60 }, (_, key) => ({ key, delayMs: 0, isSlow: true })),
    ),
  );
  await soon(() => expect(begun).toHaveLength(48));
  await ensure(1000);
  await soon(() => expect(begun).toContain(1000));
  expect(begun).toHaveLength(49);
});

test("a job that throws is assigned again, with the next attempt", async () => {
  const attempts: number[] = [];
  workAll({
    async perform(_, { attempt }) {
      attempts.push(attempt);
      if (attempts.length === 1) throw new Error("The first time it does not work.");
    },
    next: nothingLeft,
  });
  await ensure(1);
  await soon(() => expect(attempts).toEqual([0, 1]));
});
