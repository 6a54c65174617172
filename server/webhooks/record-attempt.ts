// Stores attempts, and the new state of their deliveries and webhooks, with timeline entries and events.
import type { Clock } from "../clock.ts";
import { recordActivity } from "../activity/store.ts";
import { recordEvent } from "../events/store.ts";
import type { Claim } from "../jobs/job-runner.ts";
import type { SingletonQueue } from "../jobs/singleton-queue.ts";
import type { Connection } from "../store/database.ts";
import type { MadeAttempt } from "./attempt.ts";
import { storeAttempts } from "./attempt-store.ts";
import type { WebhookCounts } from "./metrics.ts";
import { deliveryEntry, deliveryFailedEvent, disabledEvent, enabledEvent } from "./event-data.ts";
import { healthOf, isSameHealth, judgeAttempts, type Judged } from "./judge-attempts.ts";
import { giveUp, missedOf } from "./missed-store.ts";
import type { Place, WebhookStore } from "./webhook-store.ts";

/**
 * Stores the attempts of claims that are still held. The others are made again by the runner that has their job now.
 * @returns the claims that are held
 */
export type RecordAttempts = (attempts: readonly MadeAttempt[]) => Promise<Set<Claim>>;

type RecordAttemptsOptions = {
  webhooks: WebhookStore;
  queue: Pick<SingletonQueue, "hold">;
  counts: WebhookCounts;
  clock: Clock;
  random(): number;
};

export function createRecordAttempts(options: RecordAttemptsOptions): RecordAttempts {
  const { webhooks, queue, counts, clock, random } = options;

  /**
   * Stores the health of a webhook, and records its changes.
   * @returns how many deliveries ended because it was disabled
   */
  async function storeHealth(
    tx: Connection,
    { webhook, health, rows, exhausted }: Judged,
    place: Place,
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
    for (const one of exhausted) {
      const attempts = one.delivery.attempts + 1;
      const why = rows.find(({ id }) => id === one.delivery.id)?.status_reason ?? "";
      const failed = { ...one, attempts, reason: why };
      await recordEvent(tx, deliveryFailedEvent(webhook, place, failed));
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
      // Webhooks that were deleted meanwhile are skipped. Every transaction locks webhooks before jobs.
      const present = await webhooks.holdPlaced(tx, [
        ...new Set(attempts.map(({ webhook }) => webhook.id)),
      ]);
      const holding = await queue.hold(tx, [...new Set(attempts.map(({ claim }) => claim))]);
      const byWebhook = Map.groupBy(
        attempts.filter(({ claim }) => holding.has(claim)),
        ({ webhook }) => webhook.id,
      );
      const all = present.map(({ webhook, place }) => ({
        ...judgeAttempts(webhook, byWebhook.get(webhook.id) ?? [], now, random),
        place,
      }));
      await storeAttempts(
        tx,
        all.flatMap(({ rows }) => rows),
      );
      let given = 0;
      for (const one of all) given += await storeHealth(tx, one, one.place, now);
      const entries = all.flatMap(({ place, made, rows }) =>
        made.map((one, index) => deliveryEntry(one, place.serverId, rows[index]?.status)),
      );
      await recordActivity(tx, ...entries.filter((entry) => entry !== null));
      return { held: holding, judged: all, givenUp: given };
    });
    // After the transaction, so that metrics count stored attempts.
    for (const { made, rows } of judged)
      for (const [index, one] of made.entries())
        counts.attempted(one, rows[index]?.status ?? "failed");
    counts.gaveUp(givenUp);
    return held;
  };
}
