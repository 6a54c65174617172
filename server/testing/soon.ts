import { setTimeout as sleep } from "node:timers/promises";

const shortestPauseMs = 20;
/** Nobody waits longer than needed by more than this part of it. */
const pausePart = 0.25;
const maxPauseMs = 500;

/**
 * Looks until nothing is thrown, and less often the longer that takes: a look takes the processor from what it waits for.
 * @param timeoutMs long enough for a machine that is busy with other tests
 * @param firstPauseMs longer where what is waited for takes its time in any case
 * @throws what the last look threw
 */
export async function soon<Result>(
  look: () => Result | Promise<Result>,
  timeoutMs = 60_000,
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
