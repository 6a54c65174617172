// Work by key: whatever is due for a key is done by one job, one at a time over all instances. pg-boss keeps at most one
// job of a key by a unique index. It stays there as long as something is left to do, with the moment at which that is due.
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

/** A key's next job. */
export type NextJob = {
  key: number;
  delayMs: number;
  /** Jobs that may take long without doing anything, e.g. because a receiver is dead, share fewer places. */
  isSlow?: boolean;
};

type SingletonQueueOptions = {
  boss: PgBoss;
  db: Database;
  name: string;
  /** Jobs that one instance runs at the same time, and how many of them may be slow ones. */
  places: number;
  slowPlaces: number;
  log: Logger;
};

export type SingletonQueueWork = {
  /** Does what is due for a key, or a good part of it. */
  perform(key: number, claim: Claim, signal: AbortSignal): Promise<void>;
  /** What is left to do for a key, as the transaction sees it; null = nothing. */
  next(tx: Connection, key: number): Promise<Omit<NextJob, "key"> | null>;
};

export type SingletonQueue = {
  /**
   * Has keys looked at, in the transaction that gives them something to do. A job of the key that runs just now does not end
   * before this transaction does, and looks once more then. Lock what the keys stand for before, and change what is theirs after.
   */
  ensure(tx: Connection, jobs: readonly NextJob[]): Promise<void>;
  /** Keeps claims from being lost until the transaction ends. @returns those that still hold */
  hold(tx: Connection, claims: readonly Claim[]): Promise<Set<Claim>>;
  /** Begins to take jobs. */
  work(work: SingletonQueueWork): void;
  /** Looks for jobs now. */
  wake(): void;
  /** Aborts what is done for a key on this instance. */
  abort(key: number, reason: Error): void;
  /** Aborts what is done, and resolves when it has ended; what is left is done by the next instance. */
  stop(reason: Error): Promise<void>;
};

/** pg-boss keeps the policy of a queue from its first day on. */
export const singletonQueueOptions = {
  policy: "exclusive",
  // A job that failed for good would leave its key without one.
  retryLimit: 1_000_000,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
  expireInSeconds: 3600,
  heartbeatSeconds: 15,
  retentionSeconds: 60 * 24 * 3600,
  deleteAfterSeconds: 60,
} as const;

/** The channel of PostgreSQL on which new jobs are announced; the text of a notice is the queue's name. */
export const jobsChannel = "quarterdeck_jobs";

/** What came due is begun at most so long after it. */
const pollMs = 1000;
const slow = 0;
const quick = 1;

export function createSingletonQueue(options: SingletonQueueOptions): SingletonQueue {
  const { boss, db, name, places, slowPlaces, log } = options;
  type Data = { key: number; isSlow: boolean };
  let runner: JobRunner | null = null;
  /** The job that runs for a key on this instance. */
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
    // A row that is there is locked by this, so that its job cannot end unseen; one that is not there is inserted. Somebody else
    // may have been quicker with that, or ended the job: then there is one to lock, or none. The lock keeps only the end of a job
    // waiting, and no outcome of its work.
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

  /** Ends a job and adds the next one of its key, in one transaction. */
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
        places(running) {
          const free = places - running.length;
          const freeSlow = slowPlaces - running.filter(({ isSlow }) => isSlow).length;
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
            // The key may have been claimed anew, by a runner that was thought dead.
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
