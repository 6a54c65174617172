// Records attempts and what they make of their deliveries and webhooks: delivered, tried again, given up, disabled,
// enabled again.
import type { Clock } from "../clock.ts";
import { theService } from "../activity/actor.ts";
import { recordActivity, type NewActivity } from "../activity/store.ts";
import { roomOf } from "../events/event.ts";
import { recordEvent } from "../events/store.ts";
import type { Claim } from "../jobs/claim.ts";
import type { SingletonQueue } from "../jobs/singleton-queue.ts";
import type { Connection } from "../store/database.ts";
import type { Attempt } from "./attempt.ts";
import type { DeliveryStore, DeliveryWithEvent, RecordedAttempt } from "./delivery-store.ts";
import type { WebhookCounts } from "./metrics.ts";
import { deliveryFailedEvent, disabledEvent, enabledEvent } from "./event-data.ts";
import { healthOf, isSameHealth, judgeWebhook } from "./judge-webhook.ts";
import { giveUp, missedOf } from "./missed-store.ts";
import { retryWaitMs } from "./retry.ts";
import type { Place, WebhookRow, WebhookStore } from "./webhook-store.ts";

/** An attempt that was made, with the claim on its webhook's job that it was made by. */
export type MadeAttempt = DeliveryWithEvent & {
  webhook: WebhookRow;
  claim: Claim;
  dueAt: Date;
  attempt: Attempt;
};
/**
 * Records what was made by claims that still hold; the rest is sent again by whoever holds the job now.
 * @returns the ids of the jobs whose claims hold
 */
export type RecordAttempts = (attempts: readonly MadeAttempt[]) => Promise<Set<string>>;

type RecordAttemptsOptions = {
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  queue: Pick<SingletonQueue, "hold">;
  counts: WebhookCounts;
  clock: Clock;
  random(): number;
};

export function createRecordAttempts(options: RecordAttemptsOptions): RecordAttempts {
  const { webhooks, deliveries, queue, counts, clock, random } = options;

  /** @param isDisabled whether its webhook is, after this attempt: nothing is sent there by itself */
  function toRecord(
    { webhook: attempted, delivery, event, dueAt, attempt }: MadeAttempt,
    isDisabled: boolean,
    now: Date,
  ): RecordedAttempt {
    const rounds = delivery.round_attempts + 1;
    const waitMs =
      attempt.isDelivered || isDisabled
        ? null
        : retryWaitMs(rounds, attempt.retryAfterMs, random());
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
      // A ping asks whether it arrives now; later it says nothing.
      is_missed: !attempt.isDelivered && isDisabled && event.type !== "webhook.ping",
      next_attempt_at: isOver ? null : new Date(now.getTime() + waitMs),
      ended_at: isOver ? now : null,
      url: attempted.url,
      started_at: attempt.startedAt,
      error: attempt.error,
      request_headers: attempt.requestHeaders,
      response_headers: attempt.responseHeaders,
      response_body: attempt.responseBody,
    };
  }

  /** What the attempts at one webhook come to, oldest first. */
  function judge(webhook: WebhookRow, made: readonly MadeAttempt[], now: Date) {
    let health = healthOf(webhook);
    const rows: RecordedAttempt[] = [];
    const exhausted: MadeAttempt[] = [];
    for (const one of made) {
      // What a receiver at another URL answered says nothing of the one that the webhook has now.
      if (one.webhook.url === webhook.url) health = judgeWebhook(health, one.attempt, now);
      const isDisabled = health.disabled_at !== null;
      const row = toRecord(one, isDisabled, now);
      rows.push(row);
      // Told once until the webhook takes something again, and never about a delivery that told of a webhook: two
      // dead receivers would tell of each other for ever.
      if (row.status !== "failed" || isDisabled || health.notified_exhausted) continue;
      if (roomOf(one.event.type) === "webhook") continue;
      exhausted.push(one);
      health = { ...health, notified_exhausted: true };
    }
    return { webhook, made, health, rows, exhausted };
  }
  type Judged = ReturnType<typeof judge>;

  /** Stores a webhook's health, and tells what is new about it. @returns how many deliveries it gave up with it */
  async function storeHealth(
    tx: Connection,
    { webhook, health, rows, exhausted }: Judged,
    place: Place | undefined,
    now: Date,
  ): Promise<number> {
    if (isSameHealth(healthOf(webhook), health)) return 0;
    await webhooks.update(tx, webhook.id, health);
    const since = webhook.disabled_at;
    const isNewlyDisabled = since === null && health.disabled_at !== null;
    const reason = health.disabled_reason ?? "";
    const given = isNewlyDisabled
      ? await giveUp(tx, webhook.id, `Webhook disabled: ${reason}`, now)
      : 0;
    if (place === undefined) return given;
    for (const one of exhausted) {
      const attempts = one.delivery.attempts + 1;
      const why = rows.find(({ id }) => id === one.delivery.id)?.status_reason ?? "";
      const told = { ...one, attempts, reason: why };
      await recordEvent(tx, deliveryFailedEvent(webhook, place, told));
    }
    if (isNewlyDisabled || (since !== null && health.disabled_at === null)) {
      const missed = (await missedOf(tx, [webhook.id])).get(webhook.id) ?? 0;
      const event =
        since === null
          ? disabledEvent(webhook, place, { reason, missed })
          : enabledEvent(webhook, place, { since, missed });
      await recordEvent(tx, event);
    }
    return given;
  }

  return async (attempts) => {
    const now = new Date(clock.now());
    const { held, judged, givenUp } = await webhooks.transaction(async (tx) => {
      // Of one that was deleted meanwhile nothing is left to say. Locked before the jobs, as by everybody else.
      const present = await webhooks.lock(tx, [
        ...new Set(attempts.map(({ webhook }) => webhook.id)),
      ]);
      const jobs = await queue.hold(
        tx,
        attempts.map(({ claim }) => claim),
      );
      const byWebhook = Map.groupBy(
        attempts.filter(({ claim }) => jobs.has(claim.id)),
        ({ webhook }) => webhook.id,
      );
      const all = present.map((row) => judge(row, byWebhook.get(row.id) ?? [], now));
      const places = await webhooks.placesOf(
        tx,
        present.map(({ site_id }) => site_id),
      );
      await deliveries.recordAttempts(
        tx,
        all.flatMap(({ rows }) => rows),
      );
      let given = 0;
      for (const one of all)
        given += await storeHealth(tx, one, places.get(one.webhook.site_id), now);
      const entries = all.flatMap(({ webhook, made, rows }) =>
        made.map((one, index) =>
          entryOf(one, places.get(webhook.site_id)?.serverId ?? null, rows[index]?.status),
        ),
      );
      await recordActivity(tx, ...entries.filter((entry) => entry !== null));
      return { held: jobs, judged: all, givenUp: given };
    });
    // What is counted has been stored.
    for (const { made, rows } of judged)
      for (const [index, one] of made.entries())
        counts.attempted(one, rows[index]?.status ?? "failed");
    counts.gaveUp(givenUp);
    return held;
  };
}

/**
 * A delivery's end on the timeline; the attempts before it stand with the delivery.
 * @param serverId of the webhook's site: the event may be of a database on another server, which has no say in this webhook
 */
function entryOf(
  { webhook, delivery, event, attempt }: MadeAttempt,
  serverId: number | null,
  status: RecordedAttempt["status"] | undefined,
): NewActivity | null {
  if (status !== "delivered" && status !== "failed") return null;
  return {
    kind: "webhook",
    action: status === "delivered" ? "delivered" : "delivery failed",
    outcome: status === "delivered" ? "good" : "bad",
    object: { type: "webhook", id: webhook.id, name: new URL(webhook.url).host },
    server_id: serverId,
    site_id: webhook.site_id,
    detail: `${event.type}, delivery ${delivery.id}${attempt.reason === null ? "" : `: ${attempt.reason}`}`,
    actor: theService,
  };
}
