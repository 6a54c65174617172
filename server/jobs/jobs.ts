// Jobs outlive a request: queues in PostgreSQL, by pg-boss. A job is sent in the transaction of the change that needs it, so
// neither exists without the other.
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "../store/drizzle.ts";
import type pg from "pg";
import { fromDrizzle, PgBoss, type JobResult } from "pg-boss";
import type { Logger } from "pino";
import { LeaseLost, type Leases } from "../instances/leases.ts";
import { messageOf } from "../loggable-error.ts";
import { changeTablesAlone, type Connection, type Database } from "../store/database.ts";
import { ImpatientClient } from "../store/impatient-client.ts";
import type { Listener } from "../store/listen.ts";
import { toStorableText } from "../store/storable.ts";
import { backupTaskQueue, type BackupTask, type JobData, type ServerJobs } from "./job-data.ts";
import { createJobRunner, type JobRunner } from "./job-runner.ts";
import {
  createSerialQueue,
  heartbeatSeconds,
  serialQueueOptions,
  superviseSeconds,
  type SerialQueue,
} from "./serial-queue.ts";
import {
  createSingletonQueue,
  jobsChannel,
  singletonQueueOptions,
  type SingletonQueue,
} from "./singleton-queue.ts";

type JobName = keyof JobData;
/** Jobs that any instance may do. */
type CommonName = Exclude<JobName, keyof ServerJobs>;

const deliveriesQueue = "webhook.deliveries";
const messagesQueue = "notification.messages";

export type Handlers = { [Name in JobName]: (data: JobData[Name]) => Promise<void> };

export type Jobs = {
  /**
   * Sends a job inside a transaction.
   * @param delaySeconds how long it waits before it may run
   */
  send<Name extends JobName>(
    tx: Connection,
    name: Name,
    data: JobData[Name],
    delaySeconds?: number,
  ): Promise<void>;
  /** Sends a job for each item, as `send` does. */
  sendAll<Name extends CommonName>(
    tx: Connection,
    name: Name,
    all: readonly JobData[Name][],
    delaySeconds?: number,
  ): Promise<void>;
  backupTasks: SerialQueue<BackupTask>;
  /** Deliveries to webhooks; the key is the id of a webhook. */
  deliveries: SingletonQueue;
  /** Messages to notification channels; the key is the id of a channel. */
  messages: SingletonQueue;
  /**
   * Starts to work on jobs, which wait until then.
   * @param left jobs that other instances do
   */
  work(handlers: Handlers, left: readonly CommonName[]): Promise<void>;
  /** Stops taking jobs, and waits for the running ones for at most `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
};

/**
 * Quick work on rows. After 20 attempts, a deadline reports what is not done. Notices of new jobs may be lost, for example by a
 * transaction pooler: `pollSeconds` limits the delay that causes.
 */
const quick = {
  retryLimit: 20,
  retryDelayMaxSeconds: 60,
  expireInSeconds: 60,
  concurrency: 1,
  pollSeconds: 2,
};
/** Retried for a week, because nothing follows a deadline. */
const deadline = { ...quick, retryLimit: 10_000, pollSeconds: 30 };
/** Work that waits for something outside, e.g. a storage. */
const slow = { ...quick, expireInSeconds: 3600, concurrency: 4, pollSeconds: 5 };

const serverQueues: Record<keyof ServerJobs, typeof quick> = {
  "worker.apply": { ...quick, concurrency: 10 },
  "worker.deploy": { ...quick, concurrency: 10 },
  "backup-configuration.installing": { ...slow, expireInSeconds: 120 },
  "backup-configuration.removing": slow,
  "backup.deleting": slow,
  // Retried for weeks, because a storage may be away and its files must not stay forever.
  "backup.clean": {
    ...deadline,
    retryLimit: 1000,
    retryDelayMaxSeconds: 3600,
    expireInSeconds: 600,
  },
};
const commonQueues: Record<CommonName, typeof quick> = {
  "backup-configuration.deadline": deadline,
  "backup.deadline": deadline,
  "backup-task.deadline": deadline,
  upkeep: { ...slow, pollSeconds: 30 },
  // A failed run reports itself, and the next night tries again. These retries are for a run that a stop interrupted.
  "self-backup": {
    ...slow,
    retryLimit: 3,
    expireInSeconds: 6 * 3600,
    concurrency: 1,
    pollSeconds: 30,
  },
};
const queues: Record<JobName, typeof quick> = { ...serverQueues, ...commonQueues };
// The keys of a total record are all there are.
const names = Object.keys(queues) as JobName[];
// Likewise.
const serverNames = Object.keys(serverQueues) as (keyof ServerJobs)[];
// Likewise.
const commonNames = Object.keys(commonQueues) as CommonName[];

/** Queues of earlier versions, which no version takes jobs from any more. */
const retiredQueues = ["worker.deadline"];

/** At a minute that few schedules use. */
const everyHour = "41 * * * *";

const everyNight = "23 3 * * *";

/** Limit of a delay: pg-boss deletes older jobs that were not run. */
const longestDelaySeconds = 30 * 24 * 3600;

type JobsOptions = {
  connection: pg.PoolConfig;
  db: Database;
  /** Hears `jobsChannel`. */
  listener: Listener;
  leases: Pick<Leases, "has" | "elsewhere">;
  log: Logger;
};

export async function startJobs({
  connection,
  db,
  listener,
  leases,
  log,
}: JobsOptions): Promise<Jobs> {
  const boss = new PgBoss({
    // Its types take no `undefined` and no functions that pg's pool would; neither is used here.
    ...({ ...connection, Client: ImpatientClient } as {
      host: string;
      user: string;
      password: string;
      database: string;
    }),
    max: 4,
    persistWarnings: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
  });
  let isClosing = false;
  boss.on("error", (error) => {
    // Its pool's `end` does not wait for the server to close its connections, and the embedded server is stopped next.
    if (!isClosing) log.error({ err: error }, "the job queue has trouble");
  });
  boss.on("warning", ({ message, data }) => {
    // pg-boss reports slow queries with their values, which may hold secrets.
    const { values: _, ...details } = data as { values?: unknown };
    log.warn({ warning: message, ...details }, "the job queue warns");
  });
  // Looking for the tables fails while another instance creates them.
  await changeTablesAlone(connection, () => boss.start());
  for (const name of retiredQueues) await boss.deleteQueue(name);
  for (const name of names)
    await boss.createQueue(name, {
      retryLimit: queues[name].retryLimit,
      retryBackoff: true,
      retryDelayMax: queues[name].retryDelayMaxSeconds,
      expireInSeconds: queues[name].expireInSeconds,
      retentionSeconds: 2 * longestDelaySeconds,
      deleteAfterSeconds: 3600,
    });

  await boss.createQueue(backupTaskQueue, serialQueueOptions);
  for (const name of [deliveriesQueue, messagesQueue])
    await boss.createQueue(name, singletonQueueOptions);
  await boss.schedule("upkeep", everyHour);
  await boss.schedule("self-backup", everyNight);

  const backupTasks = createSerialQueue<BackupTask>(boss, backupTaskQueue, leases, log);
  const deliveriesOf = { name: deliveriesQueue, concurrency: 128, slowConcurrency: 48 };
  const deliveries = createSingletonQueue({ boss, db, ...deliveriesOf, log });
  // A slow mail server must not keep other channels waiting.
  const messagesOf = { name: messagesQueue, concurrency: 128, slowConcurrency: 128 };
  const messages = createSingletonQueue({ boss, db, ...messagesOf, log });
  const serverRunners = new Map<string, JobRunner>();
  const woken: Record<string, { wake(): void }> = {
    [backupTaskQueue]: backupTasks,
    [deliveriesQueue]: deliveries,
    [messagesQueue]: messages,
  };
  listener.on(jobsChannel, (name) => {
    if (name === null)
      for (const queue of [...Object.values(woken), ...serverRunners.values()]) queue.wake();
    else (woken[name] ?? serverRunners.get(name))?.wake();
  });

  /** Hands a job out again whose server has just passed to another instance. */
  const takeOfServers = <Name extends keyof ServerJobs>(name: Name, handlers: Handlers) => {
    const runner = createJobRunner<JobData[Name]>({
      boss,
      queue: name,
      pollMs: queues[name].pollSeconds * 1000,
      nextFetch(running) {
        const free = queues[name].concurrency - running.length;
        return free > 0 ? { batchSize: free, ignoreGroups: leases.elsewhere().map(String) } : null;
      },
      async perform({ id, attempt }, data) {
        // Jobs of an earlier version name no server.
        if (data.server_id !== undefined && !leases.has(data.server_id)) throw new LeaseLost();
        await handlers[name](data);
        await boss.complete(name, { id, retryCount: attempt });
      },
      log,
    });
    serverRunners.set(name, runner);
    runner.wake();
  };

  const take = <Name extends CommonName>(name: Name, handlers: Handlers) =>
    boss.work<JobData[Name]>(
      name,
      {
        pollingIntervalSeconds: queues[name].pollSeconds,
        localConcurrency: queues[name].concurrency,
        // One at a time where a job may keep others waiting.
        batchSize: [quick, deadline].includes(queues[name]) ? 10 : 1,
        // Jobs that were fetched together end independently.
        perJobResults: true,
      },
      async (jobs) => {
        const results: JobResult[] = [];
        for (const { id, data } of jobs)
          try {
            await handlers[name](data);
            results.push({ id, status: "completed" });
          } catch (error) {
            log.warn({ err: error, job: name, data }, "a job failed and is tried again");
            // pg-boss stores the output over its own connections: it must hold no secret, and nothing that cannot be stored, or
            // the job would never end.
            results.push({ id, status: "failed", output: toStorableText(messageOf(error)) });
          }
        return results;
      },
    );

  return {
    async send(tx, name, data, delaySeconds = 0) {
      await boss.send(name, data, {
        db: fromDrizzle(tx, sql),
        startAfter: Math.min(delaySeconds, longestDelaySeconds),
        // Sent with the job, because pg-boss never changes the options of an existing queue.
        ...("server_id" in data && { group: { id: String(data.server_id) }, heartbeatSeconds }),
      });
      if ("server_id" in data) await tx.execute(sql`select pg_notify(${jobsChannel}, ${name})`);
    },
    async sendAll(tx, name, all, delaySeconds = 0) {
      const startAfter = Math.min(delaySeconds, longestDelaySeconds);
      const jobs = all.map((data) => ({ data, startAfter }));
      await boss.insert(name, jobs, { db: fromDrizzle(tx, sql) });
    },
    backupTasks,
    deliveries,
    messages,
    async work(handlers, left) {
      for (const name of serverNames) takeOfServers(name, handlers);
      // Sent before the first poll for it.
      await boss.send("upkeep", {});
      for (const name of commonNames) if (!left.includes(name)) await take(name, handlers);
    },
    async stop(timeoutMs) {
      // pg-boss checks only every half second whether its workers have ended.
      const ended = Promise.all([
        ...[...serverRunners.values()].map((runner) => runner.stop()),
        ...commonNames.map((name) => boss.offWork(name, { wait: true })),
      ]);
      await Promise.race([ended, wait(timeoutMs, undefined, { ref: false })]);
      isClosing = true;
      await boss.stop({ graceful: false, close: true });
    },
  };
}
