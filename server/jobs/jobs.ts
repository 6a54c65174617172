// Work that outlives a request: queues in PostgreSQL, by pg-boss. A job is sent in the transaction
// of the change that wants it, so neither exists without the other.
import { sql } from "../store/drizzle.ts";
import type pg from "pg";
import { fromDrizzle, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import type { Connection } from "../store/database.ts";

/** Every queue, and what a job of it carries. */
export type JobData = {
  /** A worker's state was changed by a request; its processes are to follow. */
  "worker.apply": { id: number; transition: number };
  /** A worker should have left the state that this transition brought it into. */
  "worker.deadline": { id: number; transition: number };
};
export type JobName = keyof JobData;

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
  /** Begins to work. Until then jobs wait. */
  work(handlers: Handlers): Promise<void>;
  /** Stops taking jobs and lets the running ones end, for at most `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
};

/** No job waits longer; pg-boss would delete it unseen after its retention time. */
const longestDelaySeconds = 30 * 24 * 3600;

export async function startJobs(connection: pg.PoolConfig, log: Logger): Promise<Jobs> {
  const boss = new PgBoss({
    // Its types take no `undefined` and no functions that pg's pool would; neither is used here.
    ...(connection as { host: string; user: string; password: string; database: string }),
    max: 4,
    useListenNotify: true,
    persistWarnings: false,
  });
  boss.on("error", (error) => log.error({ err: error }, "the job queue has trouble"));
  boss.on("warning", (warning) => log.warn({ warning }, "the job queue warns"));
  await boss.start();
  const names: JobName[] = ["worker.apply", "worker.deadline"];
  for (const name of names)
    await boss.createQueue(name, {
      retryLimit: 20,
      retryBackoff: true,
      retryDelayMax: 60,
      expireInSeconds: 60,
      retentionSeconds: 2 * longestDelaySeconds,
      deleteAfterSeconds: 3600,
      notify: true,
    });

  const take = <Name extends JobName>(name: Name, handlers: Handlers) =>
    boss.work<JobData[Name]>(name, { pollingIntervalSeconds: 1, batchSize: 10 }, async (jobs) => {
      // A batch is settled as a whole, and every handler looks at the state before it acts,
      // so a job that is done twice does nothing the second time.
      for (const job of jobs) await handlers[name](job.data);
    });

  return {
    async send(tx, name, data, delaySeconds = 0) {
      await boss.send(name, data, {
        db: fromDrizzle(tx, sql),
        startAfter: Math.min(delaySeconds, longestDelaySeconds),
      });
    },
    async work(handlers) {
      for (const name of names) await take(name, handlers);
    },
    stop: (timeoutMs) => boss.stop({ graceful: true, timeout: timeoutMs, close: true }),
  };
}
