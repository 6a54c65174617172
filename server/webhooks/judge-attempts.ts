// Decides the new state of deliveries and webhooks after attempts: delivered, retried or failed; failing, disabled or enabled.
// Pure functions.
import { retrySeconds } from "../../contract/webhooks/delivery.ts";
import { roomOf } from "../events/event.ts";
import type { Attempt, MadeAttempt } from "./attempt.ts";
import type { RecordedAttempt } from "./attempt-store.ts";
import type { WebhookRow } from "./webhook-store.ts";

/** Limit of a wait that a receiver requests: the longest wait of the schedule. */
export const longestWaitMs = 24 * 3600 * 1000;
/** The longest time until the next attempt, including jitter. */
export const longestGapMs = longestWaitMs * 1.2;
/** Share of a wait that is added at random, to spread the retries of deliveries that failed together. */
const jitter = 0.2;

/**
 * Returns the wait before the next attempt; null = that was the last attempt.
 * @param failedAttempts failed attempts of this round, including the current one
 * @param askedWaitMs wait that the receiver requested, which the result is not shorter than
 * @param random from 0 to 1
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

/** A webhook whose attempts have failed for this long is disabled. */
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
 * Returns the health of a webhook after one more attempt.
 *
 * The five days count only time with attempts: of the gap between two failed attempts at most the longest wait of the schedule counts.
 * Otherwise, after a week in which the service was stopped or the site had no event, the first failure would disable each webhook
 * that had failed once before.
 */
function judgeWebhook(before: WebhookHealth, attempt: Attempt, now: Date): WebhookHealth {
  if (attempt.isDelivered) {
    const { paused_at, disabled_at, disabled_reason } = before;
    // Only a user ends a pause: this delivery was under way when the pause began, or a user requested it.
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

/** Returns the columns of a webhook that attempts change. */
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

/**
 * Builds the record of an attempt with the new state of its delivery.
 * @param state of the webhook after this attempt: a disabled webhook gets no retries. After a failure at a former URL, the delivery
 *   is sent to the current one at once, and its attempts count anew.
 */
function toRecord(
  { webhook: attempted, delivery, event, dueAt, attempt }: MadeAttempt,
  { isDisabled, isMoved }: { isDisabled: boolean; isMoved: boolean },
  now: Date,
  random: () => number,
): RecordedAttempt {
  const rounds = isMoved ? 0 : delivery.round_attempts + 1;
  const retryMs = isMoved ? 0 : retryWaitMs(rounds, attempt.retryAfterMs, random());
  const waitMs = attempt.isDelivered || isDisabled ? null : retryMs;
  const isOver = waitMs === null;
  return {
    id: delivery.id,
    due_at: dueAt,
    status: attempt.isDelivered ? "delivered" : isOver ? "failed" : "retrying",
    status_reason: attempt.reason,
    code: attempt.code,
    duration_ms: Math.round(attempt.durationMs),
    round_attempts: rounds,
    by_hand: false,
    // A ping tests the webhook now, and is useless later.
    is_missed: !attempt.isDelivered && isDisabled && event.type !== "webhook.ping",
    next_attempt_at: isOver ? null : new Date(now.getTime() + waitMs),
    ended_at: isOver ? now : delivery.ended_at,
    url: attempted.url,
    started_at: attempt.startedAt,
    error: attempt.error,
    request_headers: attempt.requestHeaders,
    response_headers: attempt.responseHeaders,
    response_body: attempt.responseBody,
  };
}

/**
 * Returns the new state of a webhook and of its deliveries after attempts.
 * @param made attempts of this webhook, oldest first
 * @param random from 0 to 1
 */
export function judgeAttempts(
  webhook: WebhookRow,
  made: readonly MadeAttempt[],
  now: Date,
  random: () => number,
) {
  let health = healthOf(webhook);
  const rows: RecordedAttempt[] = [];
  const exhausted: MadeAttempt[] = [];
  for (const one of made) {
    // The response of a receiver at the former URL does not count for the current one.
    const isMoved = one.webhook.url !== webhook.url;
    if (!isMoved) health = judgeWebhook(health, one.attempt, now);
    const isDisabled = health.disabled_at !== null;
    const row = toRecord(one, { isDisabled, isMoved }, now, random);
    rows.push(row);
    // Only the first failed delivery since the last success is reported, and never one with an event about a webhook: two dead
    // receivers would notify each other endlessly.
    if (row.status !== "failed" || isDisabled || health.notified_exhausted) continue;
    if (roomOf(one.event.type) === "webhook") continue;
    exhausted.push(one);
    health = { ...health, notified_exhausted: true };
  }
  return { webhook, made, health, rows, exhausted };
}
export type Judged = ReturnType<typeof judgeAttempts>;
