// Retries storing a result that took long to compute while the database is briefly unavailable.
import type { Clock } from "../clock.ts";
import { describeDatabaseError } from "./database-error.ts";

const againMs = 500;
/** Longer than a job is kept without heartbeats, see `jobs/serial-queue.ts`; another runner may have it then, which ends the retries. */
const limitMs = 60_000;

type WhileAwayOptions = {
  clock: Clock;
  /** Ends the retries. */
  signal: AbortSignal;
};

/**
 * @param work uses only the database. It may run again although it has succeeded, because its response was lost, and has to
 * detect that
 * @throws errors that are not about the database at once, and the last error after the time limit
 */
export async function whileAway<Result>(
  work: () => Promise<Result>,
  { clock, signal }: WhileAwayOptions,
): Promise<Result> {
  const untilMs = clock.now() + limitMs;
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (describeDatabaseError(error) === null || signal.aborted || clock.now() >= untilMs)
        throw error;
      const { promise, resolve } = Promise.withResolvers<void>();
      clock.after(againMs, resolve);
      await promise;
    }
}
