// For what took long to make: that it can be stored is waited for while the database is away for a moment.
import type { Clock } from "../clock.ts";
import { describeDatabaseError } from "./database-error.ts";

const againMs = 500;
/** After the time without heartbeats another runner has the job, see `jobs/serial-queue.ts`. */
const limitMs = 60_000;

type WhileAwayOptions = {
  clock: Clock;
  /** Once it is aborted, what fails is not tried again. */
  signal: AbortSignal;
};

/**
 * @param work on the database alone; its answer may be lost after it was carried out, so it has to see that
 * @throws what it throws that says nothing of the database, or at the end of the time
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
