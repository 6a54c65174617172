// A queue for work that may take hours: one job at a time for each key over all instances, in the order of their requests.
// pg-boss keeps the order, and enforces it with a unique index; a claim ends with its runner's heartbeats.
import { randomUUID } from "node:crypto";
import { fromDrizzle, type PgBoss } from "pg-boss";
import type { Logger } from "pino";
import type { Leases } from "../instances/leases.ts";
import type { Connection } from "../store/database.ts";
import { sql, type SQL } from "../store/drizzle.ts";
import {
  ClaimLost,
  createJobRunner,
  isHeldBy,
  lockClaim,
  type Claim,
  type JobRunner,
} from "./job-runner.ts";
import { jobsChannel } from "./singleton-queue.ts";

export type SerialQueue<Data extends object> = {
  /**
   * Adds jobs in a transaction; their keys are ids of servers.
   * @returns their ids, in the same order
   */
  add(tx: Connection, jobs: readonly { key: string; data: Data }[]): Promise<string[]>;
  /**
   * Ends a job in the transaction that stores its outcome.
   * @returns false when the claim is lost
   */
  complete(tx: Connection, claim: Claim): Promise<boolean>;
  /**
   * Keeps a claim from being lost until the transaction ends.
   * @throws ClaimLost
   */
  hold(tx: Connection, claim: Claim): Promise<void>;
  /** Returns the condition that a claim is held. */
  isHeld(claim: Claim): SQL;
  /**
   * Stores progress in a job's data, for the next claim.
   * @throws ClaimLost
   */
  note(tx: Connection, claim: Claim, change: Partial<Data>): Promise<void>;
  /**
   * Removes a job that was not claimed yet.
   * @returns false when it was claimed
   */
  withdraw(tx: Connection, id: string): Promise<boolean>;
  /**
   * Starts to run jobs. If a handler throws, its job is retried, with the next attempt. The signal aborts when the claim is lost.
   */
  work(handle: (claim: Claim, signal: AbortSignal) => Promise<void>): void;
  /** Fetches jobs now. */
  wake(): void;
  /** Fetches no more jobs, and resolves when the running handlers have ended. */
  stop(): Promise<void>;
};

/** Number of jobs that one instance runs at once, each with another key. */
const concurrency = 16;
/**
 * A dead runner is noticed after `heartbeatSeconds`, one pass of the supervision (`superviseSeconds`), the delay of the retry and
 * one poll: less than 30 seconds in all. Shorter times would take a busy machine or a restart of the database for a dead runner.
 */
export const heartbeatSeconds = 15;
export const superviseSeconds = 5;
const retryDelaySeconds = 1;
const pollMs = 1000;
/**
 * A fetch reads all waiting jobs. If these are thousands, one fetch has to serve all jobs that ended meanwhile; if they are few,
 * work that is requested just after a fetch doesn't wait.
 */
const restMs = (fetchMs: number) => Math.min(200, 10 * fetchMs);
/** The maximum of pg-boss; handlers have shorter deadlines of their own. */
const expireSeconds = 24 * 3600;
/** High enough that no job ever fails for good, because a failed job would block its key forever. */
const retryLimit = 1_000_000;

/** pg-boss never changes the policy of an existing queue. */
export const serialQueueOptions = {
  policy: "key_strict_fifo",
  retryLimit,
  retryDelay: retryDelaySeconds,
  expireInSeconds: expireSeconds,
  heartbeatSeconds,
  retentionSeconds: 60 * 24 * 3600,
  deleteAfterSeconds: 3600,
} as const;

export function createSerialQueue<Data extends object>(
  boss: PgBoss,
  name: string,
  leases: Pick<Leases, "elsewhere">,
  log: Logger,
): SerialQueue<Data> {
  let runner: JobRunner | null = null;

  return {
    async add(tx, jobs) {
      const all = jobs.map(({ key, data }) => ({
        id: randomUUID(),
        data,
        singletonKey: key,
        group: { id: key },
      }));
      await boss.insert(name, all, { db: fromDrizzle(tx, sql) });
      await tx.execute(sql`select pg_notify(${jobsChannel}, ${name})`);
      return all.map(({ id }) => id);
    },

    async complete(tx, claim) {
      if (!(await lockClaim(tx, name, claim))) return false;
      const job = { id: claim.id, retryCount: claim.attempt };
      await boss.complete(name, job, null, { db: fromDrizzle(tx, sql) });
      return true;
    },

    async hold(tx, claim) {
      if (!(await lockClaim(tx, name, claim))) throw new ClaimLost();
    },

    isHeld: (claim) => sql`exists (select from pgboss.job where ${isHeldBy(name, claim)})`,

    async note(tx, claim, change) {
      const { rows } = await tx.execute(
        sql`update pgboss.job set data = data || ${JSON.stringify(change)}::jsonb
            where ${isHeldBy(name, claim)} returning id`,
      );
      if (rows.length === 0) throw new ClaimLost();
    },

    async withdraw(tx, id) {
      const { rows } = await tx.execute(
        sql`delete from pgboss.job where name = ${name} and id = ${id}::uuid and state = 'created' returning id`,
      );
      return rows.length > 0;
    },

    work(handle) {
      runner = createJobRunner<Data>({
        boss,
        queue: name,
        restMs,
        pollMs,
        nextFetch: (running) =>
          running.length < concurrency
            ? {
                batchSize: concurrency - running.length,
                ignoreGroups: leases.elsewhere().map(String),
              }
            : null,
        async perform(claim, _, signal) {
          await handle(claim, signal);
          await boss.complete(name, { id: claim.id, retryCount: claim.attempt });
        },
        log,
      });
      runner.wake();
    },
    wake: () => runner?.wake(),
    stop: async () => runner?.stop(),
  };
}
