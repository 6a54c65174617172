// Sends what is due. All deliveries of a webhook are one job's, which sends them in the order of their making; jobs of
// webhooks that fail share a few places, so a dead receiver slows nobody else.
import type { Clock } from "../clock.ts";
import { ClaimLost, type Claim } from "../jobs/claim.ts";
import type { SingletonQueueWork } from "../jobs/singleton-queue.ts";
import type { Attempt, MakeAttempt } from "./attempt.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { MadeAttempt, RecordAttempts } from "./record-attempt.ts";

type SenderOptions = {
  deliveries: DeliveryStore;
  attempt: MakeAttempt;
  recordAttempts: RecordAttempts;
  clock: Clock;
};

/** Deliveries of one webhook that are read at once. */
const batchSize = 25;
/** So long a job goes on while there is more; then those of other webhooks have their turn. */
const longestTurnMs = 10_000;

/** What the job of a webhook does, and when there is more to do. */
export function createWebhookSender(options: SenderOptions): SingletonQueueWork {
  const { deliveries, attempt, recordAttempts, clock } = options;
  let made: { attempt: MadeAttempt; resolve(): void; reject(error: unknown): void }[] = [];
  let recording = Promise.resolve();

  async function recordBatch(): Promise<void> {
    const batch = made;
    made = [];
    if (batch.length === 0) return;
    try {
      const held = await recordAttempts(batch.map((one) => one.attempt));
      for (const { attempt: one, resolve, reject } of batch)
        if (held.has(one.claim.id)) resolve();
        else reject(new ClaimLost());
    } catch (error) {
      // Their jobs are handed out again, and they are sent again under the same ids.
      for (const { reject } of batch) reject(error);
    }
  }

  /** Records an attempt, in one transaction with all that were made while the batch before it was being recorded. */
  function record(one: MadeAttempt): Promise<void> {
    const recorded = new Promise<void>((resolve, reject) => {
      made.push({ attempt: one, resolve, reject });
    });
    // Whoever made it waits for it after further attempts.
    recorded.catch(() => undefined);
    recording = recording.then(recordBatch);
    return recorded;
  }

  /** @returns whether something was delivered and nothing failed: there may be more */
  async function sendBatch(webhookId: number, claim: Claim, signal: AbortSignal): Promise<boolean> {
    const due = await deliveries.due(webhookId, new Date(clock.now()), batchSize);
    const recorded: Promise<void>[] = [];
    let isWorking = false;
    for (const next of due) {
      if (signal.aborted) break;
      const dueAt = next.delivery.next_attempt_at;
      if (dueAt === null) continue;
      // Deleted, disabled, given a new secret, requested again: what was read is minutes old at worst, and too old.
      const webhook = await deliveries.stillDue(next.delivery.id, dueAt, new Date(clock.now()));
      if (webhook === null) continue;
      const result: Attempt = await attempt(webhook, next, signal);
      // Nobody learns what became of it: the webhook is gone, or the service is being stopped and the next one sends it again.
      if (signal.aborted && result.code === null) break;
      recorded.push(record({ webhook, claim, dueAt, ...next, attempt: result }));
      isWorking = result.isDelivered;
      // One that fails gets one attempt, and so does one that failed last time.
      if (!isWorking || webhook.failing_since !== null) break;
    }
    await Promise.all(recorded);
    return isWorking && !signal.aborted;
  }

  return {
    async perform(webhookId, claim, signal) {
      const endMs = clock.now() + longestTurnMs;
      while ((await sendBatch(webhookId, claim, signal)) && clock.now() < endMs);
    },
    async next(tx, webhookId) {
      const left = await deliveries.nextOf(tx, webhookId, new Date(clock.now()));
      if (left === null) return null;
      return { delayMs: left.dueAt.getTime() - clock.now(), isSlow: left.isFailing };
    },
  };
}
