// Work of hours, one job at a time for each key over all instances, in the order in which it was asked for. pg-boss
// keeps the order and enforces it by a unique index; a claim ends when its runner's heartbeat does.
import { setImmediate } from "node:timers";
import { fromDrizzle, type JobResult, type PgBoss } from "pg-boss";
import type { Logger } from "pino";
import { messageOf } from "../loggable-error.ts";
import type { Connection } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { toStorableText } from "../store/storable.ts";

/** One runner's hold on a job. The attempt is the fencing token: each new claim of the job has a higher one. */
export type Claim = { id: string; attempt: number };

/** Somebody else has the job now, or it is over: whatever this runner still does must change nothing. */
export class ClaimLost extends Error {
  override name = "ClaimLost";
  constructor() {
    super("The job's claim is gone: this runner was thought dead, or the job was ended.");
  }
}

export type SerialQueue<Data extends object> = {
  /** Adds a job in a transaction. @returns its id */
  add(tx: Connection, key: string, data: Data): Promise<string>;
  /** Ends a job in the transaction that records its outcome. @returns false when the claim is gone */
  complete(tx: Connection, claim: Claim): Promise<boolean>;
  /** Keeps a claim from being lost until the transaction ends. @throws ClaimLost when it is gone */
  hold(tx: Connection, claim: Claim): Promise<void>;
  /** Keeps what a job has come to with it, for whoever claims it next. @throws ClaimLost */
  note(tx: Connection, claim: Claim, change: Partial<Data>): Promise<void>;
  /** Takes a job back that nobody has claimed yet. @returns false when somebody has */
  withdraw(tx: Connection, id: string): Promise<boolean>;
  /**
   * Begins to take jobs. When a handler throws, its job is handed out again, with the next attempt. The signal is aborted
   * when the claim is gone.
   */
  work(handle: (claim: Claim, signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Takes no more jobs, and resolves when the handlers under way have ended. */
  stop(): Promise<void>;
};

/** Jobs that one instance runs at the same time, each of another key. */
const atOnce = 16;
/**
 * A dead runner is noticed after `heartbeatSeconds`, one pass of the supervision (`superviseSeconds`), the retry's delay and
 * one poll: less than 30 seconds. Shorter would take a busy machine or a database that restarts for a death.
 */
const heartbeatSeconds = 15;
const heartbeatRefreshSeconds = 3;
export const superviseSeconds = 5;
const retryDelaySeconds = 1;
const pollSeconds = 5;
/** The longest that pg-boss allows; handlers have deadlines of their own before it. */
const expireSeconds = 24 * 3600;
/** A job that failed for good would hold its key for ever, so none does. */
const retryLimit = 1_000_000;

/** pg-boss keeps the policy of a queue from its first day on. */
export const serialQueueOptions = {
  policy: "key_strict_fifo",
  retryLimit,
  retryDelay: retryDelaySeconds,
  expireInSeconds: expireSeconds,
  heartbeatSeconds,
  retentionSeconds: 60 * 24 * 3600,
  deleteAfterSeconds: 3600,
  notify: true,
} as const;

export function createSerialQueue<Data extends object>(
  boss: PgBoss,
  name: string,
  log: Logger,
): SerialQueue<Data> {
  const workers: string[] = [];
  const isHeld = ({ id, attempt }: Claim) =>
    sql`name = ${name} and id = ${id}::uuid and state = 'active' and retry_count = ${attempt}`;

  /** @returns false when the claim is gone; otherwise it cannot be lost until the transaction ends */
  async function lock(tx: Connection, claim: Claim): Promise<boolean> {
    const { rows } = await tx.execute(
      sql`select id from pgboss.job where ${isHeld(claim)} for update`,
    );
    return rows.length > 0;
  }

  /** The next job of a key may begin now; waiting for the next poll would leave its server idle. */
  const wakeWorkers = () =>
    void setImmediate(() => {
      for (const id of workers) boss.notifyWorker(id);
    });

  return {
    async add(tx, key, data) {
      const id = await boss.send(name, data, { db: fromDrizzle(tx, sql), singletonKey: key });
      if (id === null) throw new Error("A job was not added to its queue.");
      return id;
    },

    async complete(tx, claim) {
      if (!(await lock(tx, claim))) return false;
      const job = { id: claim.id, retryCount: claim.attempt };
      await boss.complete(name, job, null, { db: fromDrizzle(tx, sql) });
      return true;
    },

    async hold(tx, claim) {
      if (!(await lock(tx, claim))) throw new ClaimLost();
    },

    async note(tx, claim, change) {
      const { rows } = await tx.execute(
        sql`update pgboss.job set data = data || ${JSON.stringify(change)}::jsonb
            where ${isHeld(claim)} returning id`,
      );
      if (rows.length === 0) throw new ClaimLost();
    },

    async withdraw(tx, id) {
      const { rows } = await tx.execute(
        sql`delete from pgboss.job where name = ${name} and id = ${id}::uuid and state = 'created' returning id`,
      );
      return rows.length > 0;
    },

    async work(handle) {
      // One registration for each worker: pg-boss wakes by id, and names one id a registration.
      for (let count = 0; count < atOnce; count++) {
        const worker = await boss.work<Data>(
          name,
          {
            pollingIntervalSeconds: pollSeconds,
            notifyPollingIntervalSeconds: pollSeconds,
            heartbeatRefreshSeconds,
            perJobResults: true,
          },
          async (jobs) => {
            const results: JobResult[] = [];
            for (const { id, retryCount: attempt, data, signal } of jobs)
              try {
                await handle({ id, attempt }, signal);
                results.push({ id, status: "completed" });
              } catch (error) {
                log.error({ err: error, job: name, data }, "a job is handed out again");
                // pg-boss stores it with the job: nothing may be in it that nobody should read, or that cannot be stored.
                results.push({ id, status: "failed", output: toStorableText(messageOf(error)) });
              }
            wakeWorkers();
            return results;
          },
        );
        workers.push(worker);
      }
    },

    async stop() {
      await boss.offWork(name, { wait: true });
      workers.length = 0;
    },
  };
}
