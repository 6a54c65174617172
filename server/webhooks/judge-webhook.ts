// What a webhook's newest attempts make of the webhook: it fails, it is left alone, it is disabled, it works again.
import type { Attempt } from "./attempt.ts";
import { longestGapMs, longestWaitMs } from "./retry.ts";
import type { WebhookRow } from "./webhook-store.ts";

/** A webhook that was tried in vain for so long is disabled. */
const patienceSeconds = 5 * 24 * 3600;

type WebhookHealth = Pick<
  WebhookRow,
  | "failing_since"
  | "last_failed_at"
  | "failing_seconds"
  | "notified_exhausted"
  | "paused_until"
  | "disabled_at"
  | "disabled_reason"
  | "paused_at"
>;

export const healthy: Omit<WebhookHealth, "paused_at"> = {
  failing_since: null,
  last_failed_at: null,
  failing_seconds: 0,
  notified_exhausted: false,
  paused_until: null,
  disabled_at: null,
  disabled_reason: null,
};

/**
 * Brings a webhook in line with one more attempt that was made at it.
 *
 * Its five days are those in which it was tried: of each wait between two attempts no more counts than the schedule's longest.
 * By the calendar a service that was off for a week would disable each webhook that failed once before, at the first failure
 * after it, and so would a site where something happens once a month.
 */
export function judgeWebhook(before: WebhookHealth, attempt: Attempt, now: Date): WebhookHealth {
  if (attempt.isDelivered) {
    const { paused_at, disabled_at, disabled_reason } = before;
    // A pause is a user's to end: the delivery was under way before it, or was asked for by hand.
    return paused_at === null
      ? { ...healthy, paused_at }
      : { ...healthy, paused_at, disabled_at, disabled_reason };
  }
  const failingSince = before.failing_since ?? attempt.startedAt;
  const gapMs =
    attempt.startedAt.getTime() - (before.last_failed_at ?? attempt.startedAt).getTime();
  const countedMs = Math.min(Math.max(gapMs, 0), longestGapMs);
  const after: WebhookHealth = {
    ...before,
    failing_since: failingSince,
    last_failed_at: attempt.startedAt,
    failing_seconds: before.failing_seconds + Math.round(countedMs / 1000),
  };
  if (attempt.retryAfterMs !== null)
    after.paused_until = new Date(now.getTime() + Math.min(attempt.retryAfterMs, longestWaitMs));
  if (after.disabled_at !== null) return after;
  if (attempt.isGone) return { ...after, disabled_at: now, disabled_reason: attempt.reason };
  if (after.failing_seconds < patienceSeconds) return after;
  return {
    ...after,
    disabled_at: now,
    disabled_reason: `Every attempt failed for five days. Last attempt: ${attempt.reason}`,
  };
}

/** What of a webhook's row its attempts change. */
export const healthOf = (row: WebhookRow): WebhookHealth => ({
  failing_since: row.failing_since,
  last_failed_at: row.last_failed_at,
  failing_seconds: row.failing_seconds,
  notified_exhausted: row.notified_exhausted,
  paused_until: row.paused_until,
  disabled_at: row.disabled_at,
  disabled_reason: row.disabled_reason,
  paused_at: row.paused_at,
});

export const isSameHealth = (one: WebhookHealth, other: WebhookHealth): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
