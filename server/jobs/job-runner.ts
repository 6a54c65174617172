// Takes jobs of one queue as places for them are free, and keeps pg-boss informed that their runner lives. pg-boss's own
// workers fetch one by one, each with its poll: for many places that is many queries, and a notice wakes all of them.
import type { FetchOptions, Job, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import { systemClock } from "../clock.ts";
import { messageOf } from "../loggable-error.ts";
import { toStorableText } from "../store/storable.ts";
import { ClaimLost, type Claim } from "./claim.ts";
import { createLoop } from "./loop.ts";

type JobRunnerOptions<Data extends object> = {
  boss: PgBoss;
  queue: string;
  /** What may be fetched beside the jobs that run; null = nothing just now. */
  places(running: readonly Data[]): FetchOptions | null;
  /** Does a job and ends it. When it throws, the job is handed out again, with the next attempt. */
  perform(claim: Claim, data: Data, signal: AbortSignal): Promise<void>;
  /** Jobs that nobody announced here are found so soon: delayed ones, and those of an instance that died. */
  pollMs: number;
  log: Logger;
};

export type JobRunner = {
  /** Looks for jobs now. */
  wake(): void;
  /** Aborts the signal of the job that a claim holds here. */
  abort(id: string, reason: Error): void;
  /** Takes no more jobs, and resolves when those under way have ended. @param reason aborts them; without it they go on */
  stop(reason?: Error): Promise<void>;
};

/** A claim without a heartbeat for `heartbeatSeconds` is over, see `jobs.ts`. */
const heartbeatMs = 3000;

type Running<Data> = {
  job: Job<Data>;
  startedMs: number;
  ending: AbortController;
  done: Promise<void>;
};

export function createJobRunner<Data extends object>(options: JobRunnerOptions<Data>): JobRunner {
  const { boss, queue, places, perform, pollMs, log } = options;
  const running = new Map<string, Running<Data>>();

  async function run(job: Job<Data>, signal: AbortSignal): Promise<void> {
    try {
      await perform({ id: job.id, attempt: job.retryCount }, job.data, signal);
    } catch (error) {
      if (error instanceof ClaimLost) {
        log.warn({ job: queue, data: job.data }, "a job's claim was lost; somebody else has it");
        return;
      }
      log.error({ err: error, job: queue, data: job.data }, "a job is handed out again");
      // pg-boss stores it with the job: nothing may be in it that nobody should read, or that cannot be stored.
      const output = { message: toStorableText(messageOf(error)) };
      await boss
        .fail(queue, job, output)
        .catch((failure: unknown) =>
          log.warn({ err: failure, job: queue }, "a job's claim is left to run out"),
        );
    }
  }

  function start(job: Job<Data>): void {
    const ending = new AbortController();
    const done = run(job, ending.signal).finally(() => {
      running.delete(job.id);
      loop.wake();
    });
    running.set(job.id, { job, startedMs: systemClock.now(), ending, done });
  }

  const loop = createLoop({
    name: `jobs of ${queue}`,
    everyMs: pollMs,
    async turn(signal) {
      for (let isMore = true; isMore && !signal.aborted;) {
        const options = places([...running.values()].map(({ job }) => job.data));
        if (options === null) return;
        const jobs = await boss.fetch<Data>(queue, options);
        for (const job of jobs) start(job);
        isMore = jobs.length > 0;
      }
    },
    clock: systemClock,
    log,
  });

  async function beat(): Promise<void> {
    for (const { job, startedMs, ending } of running.values()) {
      if (ending.signal.aborted || systemClock.now() - startedMs < heartbeatMs) continue;
      // One by one: a transaction that records the outcomes of several jobs holds their rows.
      const touched = await boss.touch(queue, job);
      if (running.has(job.id) && "affected" in touched && touched.affected === 0)
        ending.abort(new Error("The job's claim is gone."));
    }
  }
  // A heartbeat that could not run says nothing about the claim.
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
    abort: (id, reason) => running.get(id)?.ending.abort(reason),
    async stop(reason) {
      await loop.stop();
      if (reason !== undefined) for (const { ending } of running.values()) ending.abort(reason);
      await Promise.all([...running.values()].map(({ done }) => done));
      await beating.stop();
    },
  };
}
