// Tests two instances on one database, with the engine's heartbeats and claims; the work itself is a promise.
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Jobs } from "../../jobs/jobs.ts";
import { ClaimLost } from "../../jobs/job-runner.ts";
import { createLog } from "../../log.ts";
import { sql } from "../../store/drizzle.ts";
import { backupTasks } from "../../store/tables/backups.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createTestDatabase, type TestDatabase } from "../../testing/database.ts";
import type { BackupRow } from "../backup-store.ts";
import { createTaskRunner, longestTaskMs, type TaskRunnerOptions } from "./task-runner.ts";
import { createTaskStore, type TaskRow } from "./task-store.ts";
import { insertBackup, insertConfiguration, insertInventory } from "../testing/rows.ts";
import { Canceled } from "../failure-message.ts";
import { startTestJobs } from "../../testing/jobs.ts";
import { soon } from "../../testing/soon.ts";

const log = createLog("silent");

let database: TestDatabase;
let backup: BackupRow;
const instances: { jobs: Jobs; stop(): Promise<void> }[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  await insertInventory(database.db);
  backup = await insertBackup(database.db, await insertConfiguration(database.db));
});
afterEach(async () => {
  for (const { stop } of instances.splice(0)) await stop();
  await database.close();
});

/** Creates an instance on the database that performs tasks with `perform`, and records what it settles. */
async function createInstance(perform: TaskRunnerOptions["perform"]) {
  const jobs = await startTestJobs(database, log);
  const tasks = createTaskStore(database.db, jobs.backupTasks);
  const clock = createFakeClock();
  const settled: string[] = [];
  const runner = createTaskRunner({
    tasks,
    perform,
    async settle(task, reason) {
      await end(jobs, task);
      settled.push(reason.message);
    },
    clock,
  });
  const stop = async () => {
    await Promise.all([jobs.backupTasks.stop(), runner.stop()]);
    await jobs.stop(0);
  };
  instances.push({ jobs, stop });
  return { jobs, tasks, clock, settled, runner, work: () => jobs.backupTasks.work(runner.run) };
}
type Instance = Awaited<ReturnType<typeof createInstance>>;

const end = (jobs: Jobs, task: TaskRow): Promise<boolean> =>
  database.db.transaction((tx) => jobs.backupTasks.complete(tx, task));

async function add({ tasks }: Instance): Promise<string> {
  const [id = ""] = await database.db.transaction((tx) =>
    tasks.insert(tx, [{ server_id: 1, backup_id: backup.id, kind: "run" }]),
  );
  return id;
}

/** Makes the first attempt miss its heartbeats, like a dead runner or a stopped machine. */
const missHeartbeats = () =>
  database.db.execute(
    sql`update pgboss.job set heartbeat_on = now() - interval '1 minute' where state = 'active' and retry_count = 0`,
  );

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });

test("runs one job at a time for a server over two instances, in the order of the requests", async () => {
  const begun: string[] = [];
  let running = 0;
  const perform = (instance: () => Instance) => async (task: TaskRow) => {
    running += 1;
    expect(running).toBe(1);
    begun.push(task.id);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    await end(instance().jobs, task);
  };
  const first: Instance = await createInstance(perform(() => first));
  const second: Instance = await createInstance(perform(() => second));
  const asked: string[] = [];
  for (let count = 0; count < 20; count++) asked.push(await add(count % 2 === 0 ? first : second));
  first.work();
  second.work();
  await soon(() => expect(begun).toHaveLength(20));
  expect(begun).toEqual(asked);
});

test("counts the jobs of its server before a waiting one", async () => {
  const instance: Instance = await createInstance(() => new Promise(() => undefined));
  await add(instance);
  const other = await insertBackup(database.db, await insertConfiguration(database.db));
  await database.db.transaction((tx) =>
    instance.tasks.insert(tx, [{ server_id: 1, backup_id: other.id, kind: "run" }]),
  );
  expect(await instance.tasks.jobsAhead([backup.id, other.id])).toEqual(
    new Map([
      [backup.id, 0],
      [other.id, 1],
    ]),
  );
});

test("settles the job of a dead runner, and refuses the outcome of one that was wrongly considered dead", async () => {
  const claims: TaskRow[] = [];
  let isLost = false;
  const dead: Instance = await createInstance(async (task, signal) => {
    claims.push(task);
    await untilAborted(signal);
    isLost = true;
    // The runner was stopped for a while, and continues as if nothing had happened.
    expect(await end(dead.jobs, task)).toBe(false);
    await expect(database.db.transaction((tx) => dead.tasks.hold(tx, task))).rejects.toBeInstanceOf(
      ClaimLost,
    );
    throw new ClaimLost();
  });
  await add(dead);
  dead.work();
  await soon(() => expect(claims).toHaveLength(1));
  const living = await createInstance(() => Promise.reject(new Error("Nothing begins anew.")));
  living.work();
  await soon(async () => {
    await missHeartbeats();
    expect(isLost).toBe(true);
  });
  await soon(() =>
    expect([...dead.settled, ...living.settled]).toEqual([
      expect.stringMatching(/^(Interrupted|Couldn't store)/),
    ]),
  );
}, 120_000);

test("gives up a job that ignores its deadline an hour later, and continues with the server's other jobs", async () => {
  const performed: string[] = [];
  let signal: AbortSignal | undefined;
  const instance: Instance = await createInstance(async (task, given) => {
    performed.push(task.id);
    if (performed.length > 1) return void (await end(instance.jobs, task));
    signal = given;
    await new Promise(() => undefined);
  });
  const first = await add(instance);
  const next = await add(instance);
  instance.work();
  await soon(() => expect(performed).toEqual([first]));
  instance.clock.advance(longestTaskMs);
  expect(signal?.aborted).toBe(true);
  expect(instance.settled).toEqual([]);
  instance.clock.advance(3600_000);
  await soon(() => expect(instance.settled).toEqual(["Timed out after 22 hours."]));
  await soon(() => expect(performed).toEqual([first, next]));
}, 120_000);

test.each([
  [{}, "See the service's log for the reason."],
  [
    { code: "53300" },
    "Quarterdeck couldn't use its own database. All database connections are in use. Try again in a moment.",
  ],
])(
  "settles a job whose outcome could not be stored with that reason, not as interrupted with the service: %o",
  async (more, why) => {
    const instance = await createInstance(() =>
      Promise.reject(Object.assign(new Error("No outcome."), more)),
    );
    await add(instance);
    instance.work();
    await soon(() => expect(instance.settled).toEqual([`Couldn't store the result. ${why}`]));
  },
  90_000,
);

test("settles a job that a hanging runner lost, and received again, as interrupted by that", async () => {
  const instance = await createInstance(() => Promise.reject(new ClaimLost()));
  await add(instance);
  instance.work();
  await soon(async () => {
    await missHeartbeats();
    expect(instance.settled).toEqual([
      "Interrupted: the service hung, or was cut off from its database, during the run.",
    ]);
  });
});

test("cancels a job that was claimed a moment ago, and reports one that nobody performs", async () => {
  let reason: unknown;
  const instance: Instance = await createInstance(async (task, signal) => {
    await untilAborted(signal);
    reason = signal.reason;
    await end(instance.jobs, task);
  });
  const id = await add(instance);
  instance.work();
  const task = await soon(async () => {
    const found = await instance.tasks.byId(id);
    expect(found?.is_claimed).toBe(true);
    return found;
  });
  if (task === null) return expect.unreachable();
  const canceled = new Canceled("somebody");
  expect(await instance.runner.cancel(task, canceled)).toBe(true);
  await soon(() => expect(reason).toBe(canceled));
  const other = await createInstance(() => Promise.resolve());
  expect(await other.runner.cancel(task, canceled)).toBe(false);
});

test("takes over the tasks of an earlier version: waiting ones run, started ones are interrupted", async () => {
  const performed: number[] = [];
  const instance: Instance = await createInstance(async (task) => {
    performed.push(task.backup_id);
    await end(instance.jobs, task);
  });
  const old = { server_id: 1, backup_id: backup.id, kind: "run" as const };
  await database.db.insert(backupTasks).values({ ...old, started_at: new Date() });
  await database.db.insert(backupTasks).values(old);
  expect(await instance.tasks.takeOver()).toHaveLength(1);
  expect(await instance.tasks.takeOver()).toEqual([]);
  instance.work();
  await soon(() => expect(performed).toEqual([backup.id]));
  expect(instance.settled).toEqual(["Interrupted: the service stopped or crashed during the run."]);
});
