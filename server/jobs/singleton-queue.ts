// A queue of work by key: one job does everything that is due for a key, one at a time over all instances. pg-boss enforces at
// most one job for each key with a unique index. The job exists as long as work is left, with the time when that is due.
import { fromDrizzle, type PgBoss } from "pg-boss";
import type { Logger } from "pino";
import type { Connection, Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import {
  createJobRunner,
  holdClaims,
  lockClaim,
  type Claim,
  type JobRunner,
} from "./job-runner.ts";

/** The next job of a key. */
export type NextJob = {
  key: number;
  delayMs: number;
  /**
   * Whether the job may take long without doing anything, for example because a receiver does not respond. Slow jobs share fewer
   * slots.
   */
  isSlow?: boolean;
};

type SingletonQueueOptions = {
  boss: PgBoss;
  db: Database;
  name: string;
  /** Number of jobs that one instance runs at once, and how many of them may be slow. */
  concurrency: number;
  slowConcurrency: number;
  log: Logger;
};

export type SingletonQueueWork = {
  /** Does the work that is due for a key, or a part of it. */
  perform(key: number, claim: Claim, signal: AbortSignal): Promise<void>;
  /** Returns what is left to do for a key, as the transaction sees it; null = nothing. */
  next(tx: Connection, key: number): Promise<Omit<NextJob, "key"> | null>;
};

export type SingletonQueue = {
  /**
   * Ensures that keys have jobs, in the transaction that adds their work. A running job of a key cannot end before this
   * transaction, and then checks for work once more. Lock the objects of the keys before this call, and change their work after
   * it.
   */
  ensure(tx: Connection, jobs: readonly NextJob[]): Promise<void>;
  /**
   * Keeps claims from being lost until the transaction ends.
   * @returns those that are still held
   */
  hold(tx: Connection, claims: readonly Claim[]): Promise<Set<Claim>>;
  /** Starts to run jobs. */
  work(work: SingletonQueueWork): void;
  /** Fetches jobs now. */
  wake(): void;
  /** Aborts the job that runs for a key on this instance. */
  abort(key: number, reason: Error): void;
  /** Aborts running jobs, and resolves when they have ended; the next instance does what is left. */
  stop(reason: Error): Promise<void>;
};

/** pg-boss never changes the policy of an existing queue. */
export const singletonQueueOptions = {
  policy: "exclusive",
  // Never exhausted, because a job that failed for good would leave its key without one.
  retryLimit: 1_000_000,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
  expireInSeconds: 3600,
  heartbeatSeconds: 15,
  retentionSeconds: 60 * 24 * 3600,
  deleteAfterSeconds: 60,
} as const;

/** PostgreSQL channel that announces new jobs; the payload is the name of the queue. */
export const jobsChannel = "quarterdeck_jobs";

/** Maximum delay before due work is started. */
const pollMs = 1000;
const slow = 0;
const quick = 1;

export function createSingletonQueue(options: SingletonQueueOptions): SingletonQueue {
  const { boss, db, name, concurrency, slowConcurrency, log } = options;
  type Data = { key: number; isSlow: boolean };
  let runner: JobRunner | null = null;
  /** Claims of the jobs that run on this instance, by key. */
  const held = new Map<number, Claim>();

  const insert = (tx: Connection, jobs: readonly NextJob[]) =>
    boss.insert(
      name,
      jobs.map(({ key, delayMs, isSlow = false }) => ({
        data: { key, isSlow },
        singletonKey: String(key),
        startAfter: Math.max(0, delayMs) / 1000,
        priority: isSlow ? slow : quick,
      })),
      { db: fromDrizzle(tx, sql) },
    );

  async function ensure(tx: Connection, jobs: readonly NextJob[]): Promise<void> {
    if (jobs.length === 0) return;
    const wanted = JSON.stringify(
      jobs.map(({ key, delayMs }) => ({ key: String(key), seconds: Math.max(0, delayMs) / 1000 })),
    );
    const rowsOfWanted = sql`json_to_recordset(${wanted}::json) as wanted(key text, seconds double precision)`;
    const wantedStart = sql`pgboss.job_now() + make_interval(secs => wanted.seconds)`;
    const isTheirs = sql`job.name = ${name} and job.singleton_key = wanted.key and job.state <= 'active'`;
    // This locks existing jobs, so that they cannot end unnoticed, and missing ones are inserted. Another transaction may have
    // inserted the job first, or ended it, so the loop tries again. The lock only delays the end of a job, not the outcome of its
    // work.
    let isAnyLate = false;
    for (let missing = [...jobs], tries = 0; missing.length > 0; tries++) {
      if (tries === 3) throw new Error(`No job could be added to the queue ${name}.`);
      if (tries > 0) await insert(tx, missing);
      const { rows } = await tx.execute<{ key: string; is_late: boolean }>(sql`
        select job.singleton_key as key, job.start_after > ${wantedStart} as is_late
        from pgboss.job job, ${rowsOfWanted} where ${isTheirs} for key share of job`);
      const found = new Set(rows.map(({ key }) => key));
      missing = missing.filter(({ key }) => !found.has(String(key)));
      isAnyLate = rows.some(({ is_late: isLate }) => isLate);
    }
    if (isAnyLate)
      await tx.execute(sql`
        update pgboss.job job set start_after = ${wantedStart}
        from ${rowsOfWanted} where ${isTheirs} and job.start_after > ${wantedStart}`);
    await tx.execute(sql`select pg_notify(${jobsChannel}, ${name})`);
  }

  /** Ends a job and inserts the next one of its key, in one transaction. */
  const finish = (claim: Claim, key: number, next: SingletonQueueWork["next"]): Promise<void> =>
    db.transaction(async (tx) => {
      if (!(await lockClaim(tx, name, claim))) return;
      const left = await next(tx, key);
      const job = { id: claim.id, retryCount: claim.attempt };
      await boss.complete(name, job, null, { db: fromDrizzle(tx, sql) });
      if (left !== null) await insert(tx, [{ key, ...left }]);
    });

  return {
    ensure,
    hold: (tx, claims) => holdClaims(tx, name, claims),
    work({ perform, next }) {
      runner = createJobRunner<Data>({
        boss,
        queue: name,
        pollMs,
        nextFetch(running) {
          const free = concurrency - running.length;
          const freeSlow = slowConcurrency - running.filter(({ isSlow }) => isSlow).length;
          if (free <= 0) return null;
          return freeSlow > 0
            ? { batchSize: Math.min(free, freeSlow) }
            : { batchSize: free, minPriority: quick };
        },
        async perform(claim, { key }, signal) {
          held.set(key, claim);
          try {
            await perform(key, claim, signal);
          } finally {
            // The key may have been claimed again, after this runner was considered dead.
            if (held.get(key) === claim) held.delete(key);
          }
          await finish(claim, key, next);
        },
        log,
      });
      runner.wake();
    },
    wake: () => runner?.wake(),
    abort(key, reason) {
      const claim = held.get(key);
      if (claim !== undefined) runner?.abort(claim.id, reason);
    },
    stop: async (reason) => runner?.stop(reason),
  };
}
