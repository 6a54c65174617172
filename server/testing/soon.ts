import { setTimeout as sleep } from "node:timers/promises";

const shortestPauseMs = 20;
/** The pause as a share of the time elapsed, which bounds how much longer than needed a test waits. */
const pausePart = 0.25;
const maxPauseMs = 500;

/**
 * Retries `look` until it does not throw, with growing pauses, because each look takes CPU time from what it waits for.
 * @param timeoutMs long enough for a machine that is busy with other tests
 * @param firstPauseMs longer if the result is known to take its time
 * @throws the error of the last look
 */
export async function soon<Result>(
  look: () => Result | Promise<Result>,
  timeoutMs = 120_000,
  firstPauseMs = shortestPauseMs,
): Promise<Result> {
  const startedMs = performance.now();
  for (;;) {
    try {
      return await look();
    } catch (error) {
      const elapsedMs = performance.now() - startedMs;
      if (elapsedMs > timeoutMs) throw error;
      await sleep(Math.min(Math.max(firstPauseMs, elapsedMs * pausePart), maxPauseMs));
    }
  }
}
