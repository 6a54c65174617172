// When a delivery that failed is tried again.
import { retrySeconds } from "../../contract/webhooks/delivery.ts";

/** Nobody is waited for longer than the longest wait of the schedule. */
export const longestWaitMs = 24 * 3600 * 1000;
/** An event that nothing else follows is tried again after this at the latest. */
export const longestGapMs = longestWaitMs * 1.2;
/** Receivers that failed together are not all tried again at the same moment. */
const jitter = 0.2;

/**
 * @param failedAttempts of this round, the one that just failed included
 * @param askedWaitMs what the receiver asked for; it is never tried sooner
 * @param random from 0 to 1
 * @returns null when no attempt follows
 */
export function retryWaitMs(
  failedAttempts: number,
  askedWaitMs: number | null,
  random: number,
): number | null {
  const seconds = retrySeconds[failedAttempts - 1];
  if (seconds === undefined) return null;
  const waitMs = seconds * 1000 * (1 + jitter * random);
  return Math.round(Math.max(waitMs, Math.min(askedWaitMs ?? 0, longestWaitMs)));
}
