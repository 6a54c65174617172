// What attempts make of their deliveries and webhooks: delivered, tried again, given up, disabled, enabled again.
import type { Clock } from "../clock.ts";
import { theService } from "../activity/actor.ts";
import { recordActivity, type NewActivity } from "../activity/store.ts";
import { recordEvent } from "../events/store.ts";
import type { Connection } from "../store/database.ts";
import type { Attempt } from "./attempt.ts";
import type { DeliveryStore, DeliveryWithEvent, Settled } from "./delivery-store.ts";
import type { WebhookCounts } from "./metrics.ts";
import { disabledEvent } from "./event-data.ts";
import { retryWaitMs } from "./retry.ts";
import type { WebhookRow, WebhookStore } from "./webhook-store.ts";

export type Tried = DeliveryWithEvent & { webhook: WebhookRow; attempt: Attempt };
export type Settle = (tried: readonly Tried[]) => Promise<void>;

/** A webhook that has failed for so long is disabled. */
const patienceMs = 5 * 24 * 3600 * 1000;

export type SettleOptions = {
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  counts: WebhookCounts;
  clock: Clock;
  random(): number;
};

export function createSettle(options: SettleOptions): Settle {
  const { webhooks, deliveries, counts, clock, random } = options;

  /** What becomes of a delivery. A webhook that is gone for good leaves nothing to try. */
  function settled({ delivery, attempt }: Tried, now: Date): Settled {
    const rounds = delivery.round_attempts + 1;
    const waitMs =
      attempt.isDelivered || attempt.isGone
        ? null
        : retryWaitMs(rounds, attempt.retryAfterMs, random());
    const isOver = waitMs === null;
    return {
      id: delivery.id,
      status: attempt.isDelivered ? "delivered" : isOver ? "failed" : "retrying",
      status_reason: attempt.reason,
      code: attempt.code,
      duration_ms: Math.round(attempt.durationMs),
      round_attempts: rounds,
      by_hand: false,
      next_attempt_at: isOver ? null : new Date(now.getTime() + waitMs),
      ended_at: isOver ? now : null,
      started_at: attempt.startedAt,
      error: attempt.error,
      request_headers: attempt.requestHeaders,
      response_headers: attempt.responseHeaders,
      response_body: attempt.responseBody,
    };
  }

  /**
   * Brings a webhook in line with the attempts that were made at it, oldest first.
   * @returns how many of its deliveries were given up without another attempt
   */
  async function settleWebhook(
    tx: Connection,
    row: WebhookRow,
    tried: readonly Tried[],
    now: Date,
  ): Promise<number> {
    let { failing_since, paused_until, disabled_at, disabled_reason } = row;
    for (const { attempt } of tried) {
      if (attempt.isDelivered) {
        failing_since = paused_until = disabled_at = disabled_reason = null;
        continue;
      }
      failing_since ??= attempt.startedAt;
      if (attempt.retryAfterMs !== null)
        paused_until = new Date(now.getTime() + Math.min(attempt.retryAfterMs, longestPauseMs));
      if (disabled_at === null && attempt.isGone)
        [disabled_at, disabled_reason] = [now, attempt.reason];
      if (disabled_at === null && now.getTime() - failing_since.getTime() >= patienceMs)
        [disabled_at, disabled_reason] = [
          now,
          `Every attempt has failed for five days. The last one: ${attempt.reason}`,
        ];
    }
    if (
      failing_since?.getTime() === row.failing_since?.getTime() &&
      paused_until?.getTime() === row.paused_until?.getTime() &&
      disabled_at?.getTime() === row.disabled_at?.getTime()
    )
      return 0;
    await webhooks.update(tx, row.id, {
      failing_since,
      paused_until,
      disabled_at,
      disabled_reason,
    });
    if (disabled_at === null || row.disabled_at !== null) return 0;
    const reason = disabled_reason ?? "";
    const given = await deliveries.giveUp(tx, row.id, `The webhook was disabled: ${reason}`, now);
    const found = await webhooks.withSite(row.id);
    if (found !== null) await recordEvent(tx, disabledEvent(row, found, reason));
    return given;
  }

  return async (tried) => {
    const now = new Date(clock.now());
    const rows = tried.map((one) => settled(one, now));
    const givenUp = await webhooks.transaction(async (tx) => {
      const byWebhook = Map.groupBy(tried, ({ webhook }) => webhook.id);
      const present = await webhooks.lock(tx, [...byWebhook.keys()]);
      await deliveries.settle(tx, rows);
      let given = 0;
      for (const row of present)
        given += await settleWebhook(tx, row, byWebhook.get(row.id) ?? [], now);
      const entries = tried.map((one, index) => entryOf(one, rows[index]?.status));
      await recordActivity(tx, ...entries.filter((entry) => entry !== null));
      return given;
    });
    // What is counted has been stored.
    for (const [index, one] of tried.entries())
      counts.attempted(one, rows[index]?.status ?? "failed");
    counts.gaveUp(givenUp);
  };
}

/** Longer than the longest wait between two attempts nobody is left alone. */
const longestPauseMs = 24 * 3600 * 1000;

/** A delivery's end on the timeline; the attempts before it stand with the delivery. */
function entryOf(
  { webhook, delivery, event, attempt }: Tried,
  status: Settled["status"] | undefined,
): NewActivity | null {
  if (status !== "delivered" && status !== "failed") return null;
  return {
    kind: "webhook",
    action: status === "delivered" ? "delivered" : "delivery failed",
    outcome: status === "delivered" ? "good" : "bad",
    object: { type: "webhook", id: webhook.id, name: new URL(webhook.url).host },
    server_id: event.server_id,
    site_id: webhook.site_id,
    detail: `${event.type}, delivery ${delivery.id}${attempt.reason === null ? "" : `: ${attempt.reason}`}`,
    actor: theService,
  };
}
