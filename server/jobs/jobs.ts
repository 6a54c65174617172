// Work that outlives a request: queues in PostgreSQL, by pg-boss. A job is sent in the transaction
// of the change that wants it, so neither exists without the other.
import { sql } from "../store/drizzle.ts";
import type pg from "pg";
import { fromDrizzle, PgBoss, type JobResult } from "pg-boss";
import type { Logger } from "pino";
import { messageOf } from "../loggable-error.ts";
import type { Connection, Database } from "../store/database.ts";
import type { Listener } from "../store/listen.ts";
import { toStorableText } from "../store/storable.ts";
import type { BackupTaskKind } from "../store/tables.ts";
import {
  createSerialQueue,
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

/** Every queue, and what a job of it carries. */
export type JobData = {
  /** A worker's state was changed by a request; its processes are to follow. */
  "worker.apply": { id: number; transition: number };
  /**
   * A worker's site was deployed; what its row says of that is to be carried out.
   * `transition` is null where its state did not change for it.
   */
  "worker.deploy": { id: number; transition: number | null };
  /** A configuration was made or changed; its parts are to be tried. */
  "backup-configuration.installing": { id: number; transition: number };
  /** A configuration's files are to go, and then itself. */
  "backup-configuration.removing": { id: number; transition: number };
  "backup-configuration.deadline": { id: number; transition: number };
  /** A backup's file is to go, and then its row. */
  "backup.deleting": { id: number; transition: number };
  "backup.deadline": { id: number; transition: number };
  /** A run failed; what it may have left in its storage is to go. */
  "backup.clean": { storage_provider_id: number; path: string };
  /** A heavy job should have begun by now. */
  "backup-task.deadline": { id: string };
  /** Once an hour: what is old goes, and what is due and has no job gets one. */
  upkeep: Record<string, never>;
};
type JobName = keyof JobData;

/** A heavy job of a server: hours of work, one at a time for each server. */
export type BackupTask = {
  backup_id: number;
  kind: BackupTaskKind;
  /** Of a restore: what is there now is not saved first. */
  skip_safety_backup: boolean;
  /** When it began, as a moment in ISO 8601; null while it waits. A claim after that finds it cut off. */
  begun_at: string | null;
};
export const backupTaskQueue = "backup.task";
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
  backupTasks: SerialQueue<BackupTask>;
  /** What is to be sent to webhooks; the key is a webhook's id. */
  deliveries: SingletonQueue;
  /** What is to be sent to notification channels; the key is a channel's id. */
  messages: SingletonQueue;
  /** Begins to work. Until then jobs wait. */
  work(handlers: Handlers): Promise<void>;
  /** Stops taking jobs and lets the running ones end, for at most `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
};

/**
 * Quick work on rows; what it finds undone after 20 tries is reported by a deadline. Notices of new jobs are only a hint, which
 * a pooler of transactions swallows: `pollSeconds` is how late a job may begin all the same.
 */
const quick = {
  retryLimit: 20,
  retryDelayMaxSeconds: 60,
  expireInSeconds: 60,
  atOnce: 1,
  pollSeconds: 2,
};
/** Nothing comes after a deadline, so it is tried for a week. */
const deadline = { ...quick, retryLimit: 10_000, pollSeconds: 30 };
/** Work that waits for something outside, e.g. a storage. */
const slow = { ...quick, expireInSeconds: 3600, atOnce: 4, pollSeconds: 5 };

const queues: Record<JobName, typeof quick> = {
  "worker.apply": quick,
  "worker.deploy": quick,
  "backup-configuration.installing": { ...slow, expireInSeconds: 120 },
  "backup-configuration.removing": slow,
  "backup-configuration.deadline": deadline,
  "backup.deleting": slow,
  "backup.deadline": deadline,
  // A storage may be away for a week; what was left there must not stay for ever.
  "backup.clean": {
    ...deadline,
    retryLimit: 1000,
    retryDelayMaxSeconds: 3600,
    expireInSeconds: 600,
  },
  "backup-task.deadline": deadline,
  upkeep: { ...slow, pollSeconds: 30 },
};
// The keys of a total record are all there are.
const names = Object.keys(queues) as JobName[];

/** Queues of earlier versions, whose jobs nobody takes any more. */
const retiredQueues = ["worker.deadline"];

/** At a minute at which few schedules of people begin something. */
const everyHour = "41 * * * *";

/** No job waits longer; pg-boss would delete it unseen after its retention time. */
const longestDelaySeconds = 30 * 24 * 3600;

type JobsOptions = {
  connection: pg.PoolConfig;
  db: Database;
  /** Hears `jobsChannel`. */
  listener: Listener;
  log: Logger;
};

export async function startJobs({ connection, db, listener, log }: JobsOptions): Promise<Jobs> {
  const boss = new PgBoss({
    // Its types take no `undefined` and no functions that pg's pool would; neither is used here.
    ...(connection as { host: string; user: string; password: string; database: string }),
    max: 4,
    useListenNotify: true,
    persistWarnings: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
  });
  boss.on("error", (error) => log.error({ err: error }, "the job queue has trouble"));
  boss.on("warning", ({ message, data }) => {
    // A slow query is reported with its values.
    const { values: _, ...details } = data as { values?: unknown };
    log.warn({ warning: message, ...details }, "the job queue warns");
  });
  await boss.start();
  for (const name of retiredQueues) await boss.deleteQueue(name);
  for (const name of names)
    await boss.createQueue(name, {
      retryLimit: queues[name].retryLimit,
      retryBackoff: true,
      retryDelayMax: queues[name].retryDelayMaxSeconds,
      expireInSeconds: queues[name].expireInSeconds,
      retentionSeconds: 2 * longestDelaySeconds,
      deleteAfterSeconds: 3600,
      notify: true,
    });

  await boss.createQueue(backupTaskQueue, serialQueueOptions);
  for (const name of [deliveriesQueue, messagesQueue])
    await boss.createQueue(name, singletonQueueOptions);
  await boss.schedule("upkeep", everyHour);

  const backupTasks = createSerialQueue<BackupTask>(boss, backupTaskQueue, log);
  const deliveries = createSingletonQueue({
    boss,
    db,
    name: deliveriesQueue,
    places: 128,
    slowPlaces: 48,
    log,
  });
  const messages = createSingletonQueue({
    boss,
    db,
    name: messagesQueue,
    places: 16,
    slowPlaces: 16,
    log,
  });
  const woken: Record<string, { wake(): void }> = {
    [backupTaskQueue]: backupTasks,
    [deliveriesQueue]: deliveries,
    [messagesQueue]: messages,
  };
  listener.on(jobsChannel, (name) => {
    if (name === null) for (const queue of Object.values(woken)) queue.wake();
    else woken[name]?.wake();
  });

  const take = <Name extends JobName>(name: Name, handlers: Handlers) =>
    boss.work<JobData[Name]>(
      name,
      {
        pollingIntervalSeconds: 1,
        notifyPollingIntervalSeconds: queues[name].pollSeconds,
        localConcurrency: queues[name].atOnce,
        // One at a time where one may keep others waiting.
        batchSize: [quick, deadline].includes(queues[name]) ? 10 : 1,
        // Each job ends as it does, whatever becomes of the others that were taken with it.
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
            // pg-boss stores it with the job, over connections of its own: nothing may be in it that nobody should
            // read, or that cannot be stored. Such a job would never end.
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
      });
    },
    backupTasks,
    deliveries,
    messages,
    async work(handlers) {
      for (const name of names) await take(name, handlers);
      await boss.send("upkeep", {});
    },
    stop: (timeoutMs) => boss.stop({ graceful: true, timeout: timeoutMs, close: true }),
  };
}
