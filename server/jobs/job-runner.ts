// Runs the jobs of one queue as slots become free, and sends heartbeats for them to pg-boss. pg-boss's own workers each fetch one
// job and poll separately: for many slots that means many queries, and a notification would wake all of them.
import type { FetchOptions, Job, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import { systemClock } from "../clock.ts";
import { messageOf } from "../loggable-error.ts";
import type { Connection } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { toStorableText } from "../store/storable.ts";
import { createLoop } from "./loop.ts";

/** A runner's hold on a job. The attempt is the fencing token, which each new claim of the job increases. */
export type Claim = { id: string; attempt: number };

/** Another runner has the job now, or the job has ended: whatever this runner still does must change nothing. */
export class ClaimLost extends Error {
  override name = "ClaimLost";
  constructor() {
    super("The job's claim is gone: this runner was thought dead, or the job was ended.");
  }
}

type JobRunnerOptions<Data extends object> = {
  boss: PgBoss;
  queue: string;
  /** Returns what may be fetched besides the running jobs; null = nothing at present. */
  nextFetch(running: readonly Data[]): FetchOptions | null;
  /** Runs a job and ends it. If it throws, the job is retried, with the next attempt. */
  perform(claim: Claim, data: Data, signal: AbortSignal): Promise<void>;
  /** Minimum pause between two fetches, by how long the last one took; default: none. */
  restMs?: (fetchMs: number) => number;
  /** How often to poll for jobs that were not announced to this instance: delayed ones, and those of an instance that died. */
  pollMs: number;
  log: Logger;
};

export type JobRunner = {
  /** Fetches jobs now. */
  wake(): void;
  /** Aborts the signal of a job that runs here. */
  abort(id: string, reason: Error): void;
  /**
   * Fetches no more jobs, and resolves when the running ones have ended.
   * @param reason aborts them; without it they continue
   */
  stop(reason?: Error): Promise<void>;
};

const claimIsGone = "The job's claim is gone.";
/** A claim expires without a heartbeat for `heartbeatSeconds`, see `jobs.ts`. */
const heartbeatMs = 3000;

type Running<Data> = {
  job: Job<Data>;
  startedMs: number;
  ending: AbortController;
  done: Promise<void>;
};

export function createJobRunner<Data extends object>(options: JobRunnerOptions<Data>): JobRunner {
  const { boss, queue, nextFetch, perform, restMs = () => 0, pollMs, log } = options;
  const running = new Set<Running<Data>>();

  async function run(job: Job<Data>, signal: AbortSignal): Promise<void> {
    try {
      await perform({ id: job.id, attempt: job.retryCount }, job.data, signal);
    } catch (error) {
      if (error instanceof ClaimLost) {
        log.warn({ job: queue, data: job.data }, "a job's claim was lost; somebody else has it");
        return;
      }
      log.error({ err: error, job: queue, data: job.data }, "a job is handed out again");
      // pg-boss stores this with the job, so it must be storable, and contain nothing secret.
      const output = { message: toStorableText(messageOf(error)) };
      await boss
        .fail(queue, job, output)
        .catch((failure: unknown) =>
          log.warn({ err: failure, job: queue }, "a job's claim is left to run out"),
        );
    }
  }

  function abort(id: string, reason: Error): void {
    for (const { job, ending } of running) if (job.id === id) ending.abort(reason);
  }

  function start(job: Job<Data>): void {
    // This runner was considered dead and has claimed its own job again; the run of the earlier claim has to end.
    abort(job.id, new Error(claimIsGone));
    const ending = new AbortController();
    const done = run(job, ending.signal).finally(() => {
      running.delete(own);
      loop.wake();
    });
    const own = { job, startedMs: systemClock.now(), ending, done };
    running.add(own);
  }

  const loop = createLoop({
    name: `jobs of ${queue}`,
    everyMs: pollMs,
    restMs,
    async turn(signal) {
      for (let isMore = true; isMore && !signal.aborted;) {
        const options = nextFetch([...running].map(({ job }) => job.data));
        if (options === null) return;
        const jobs = await boss.fetch<Data>(queue, options);
        for (const job of jobs) start(job);
        isMore = jobs.length >= (options.batchSize ?? 1);
      }
    },
    clock: systemClock,
    log,
  });

  async function beat(): Promise<void> {
    for (const own of running) {
      const { job, startedMs, ending } = own;
      if (ending.signal.aborted || systemClock.now() - startedMs < heartbeatMs) continue;
      // One by one, because a transaction that stores the outcomes of several jobs locks their rows.
      const touched = await boss.touch(queue, job);
      if (running.has(own) && "affected" in touched && touched.affected === 0)
        ending.abort(new Error(claimIsGone));
    }
  }
  // A failed heartbeat query says nothing about the claim.
  const beating = createLoop({
    name: `heartbeats of ${queue}`,
    everyMs: heartbeatMs,
    turn: beat,
    clock: systemClock,
    log,
  });
  beating.wake();

  return {
    wake: loop.wake,
    abort,
    async stop(reason) {
      await loop.stop();
      if (reason !== undefined) for (const { ending } of running) ending.abort(reason);
      await Promise.all([...running].map(({ done }) => done));
      await beating.stop();
    },
  };
}

/** Returns the condition that a row of pg-boss's table is held by a claim. */
export const isHeldBy = (queue: string, { id, attempt }: Claim) =>
  sql`name = ${queue} and id = ${id}::uuid and state = 'active' and retry_count = ${attempt}`;

/**
 * Locks a job for its holder.
 * @returns false when the claim is lost; otherwise it cannot be lost until the transaction ends
 */
export async function lockClaim(tx: Connection, queue: string, claim: Claim): Promise<boolean> {
  const { rows } = await tx.execute(
    sql`select id from pgboss.job where ${isHeldBy(queue, claim)} for update`,
  );
  return rows.length > 0;
}

/**
 * Keeps claims from being lost until the transaction ends.
 * @returns those that are still held
 */
export async function holdClaims(
  tx: Connection,
  queue: string,
  claims: readonly Claim[],
): Promise<Set<Claim>> {
  const { rows } = await tx.execute<{ id: string; attempt: number }>(sql`
    select id, retry_count as attempt from pgboss.job
    where name = ${queue} and state = 'active' and (id, retry_count) in (
      select id, attempt from json_to_recordset(${JSON.stringify(claims)}::json) as claimed(id uuid, attempt int)
    )
    order by id for share`);
  const attempts = new Map(rows.map(({ id, attempt }) => [id, attempt]));
  return new Set(claims.filter(({ id, attempt }) => attempts.get(id) === attempt));
}
