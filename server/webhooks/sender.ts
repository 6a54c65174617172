// Sends what is due. All deliveries of a webhook are one job's, which sends them in the order of their making; jobs of
// webhooks that fail share a few places, so a dead receiver slows nobody else.
import type { Clock } from "../clock.ts";
import { ClaimLost, type Claim } from "../jobs/job-runner.ts";
import type { NextJob, SingletonQueueWork } from "../jobs/singleton-queue.ts";
import { describeDatabaseError } from "../store/database-error.ts";
import type { WebhookRow } from "./webhook-store.ts";
import type { Attempt, MadeAttempt, MakeAttempt } from "./attempt.ts";
import { createBatcher } from "./batcher.ts";
import type { DeliveryStore, Due } from "./delivery-store.ts";
import type { RecordAttempts } from "./record-attempt.ts";

type SenderOptions = {
  deliveries: DeliveryStore;
  attempt: MakeAttempt;
  recordAttempts: RecordAttempts;
  clock: Clock;
};

/** Deliveries of one webhook that are read at once. */
const batchSize = 50;
/** So long a job goes on while there is more; then those of other webhooks have their turn. */
const longestTurnMs = 10_000;

/**
 * Under load attempts are recorded at most so often, and more of them together. A service that is killed meanwhile has sent so much
 * more that it sends again.
 */
const betweenRecordingsMs = 20;

/** What the job of a webhook does, and when there is more to do. */
export function createWebhookSender(options: SenderOptions): SingletonQueueWork {
  const { deliveries, attempt, recordAttempts, clock } = options;
  const webhookOf = createBatcher((checks: readonly Due[]) =>
    deliveries.stillDue(checks, new Date(clock.now())),
  );
  const holdsAfterRecording = createBatcher(
    (made: MadeAttempt[]) => recordTogether(made, recordAttempts),
    betweenRecordingsMs,
  );

  /** Records an attempt, in one transaction with all that were made since the one before. */
  async function record(made: MadeAttempt): Promise<void> {
    if (!(await holdsAfterRecording(made))) throw new ClaimLost();
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
      const webhook = await webhookOf({ id: next.delivery.id, dueAt });
      if (webhook === null) continue;
      const result: Attempt = await attempt(webhook, next, signal);
      // Nobody learns what became of it: the webhook is gone, or the service is being stopped and the next one sends it again.
      if (signal.aborted && result.code === null) break;
      const recording = record({ webhook, claim, dueAt, ...next, attempt: result });
      // It is waited for after further attempts.
      recording.catch(() => undefined);
      recorded.push(recording);
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
      const left = await deliveries.nextOf(tx, webhookId);
      if (left === null) return null;
      return { delayMs: left.dueAt.getTime() - clock.now(), isSlow: left.isFailing };
    },
  };
}

/** The next job of a webhook that has something to send now. */
export const sendNow = ({
  id,
  failing_since: failing,
}: Pick<WebhookRow, "id" | "failing_since">): NextJob => ({
  key: id,
  delayMs: 0,
  isSlow: failing !== null,
});

/**
 * Records attempts in one transaction. Where the database refuses it, those of each claim get one of their own: what cannot be
 * recorded is no other's harm. Its job is handed out again, and it is sent again under the same id.
 * @returns whether the claim of an attempt held
 * @throws what says nothing of the attempts, such as a lost connection, after which nobody knows what is recorded
 */
async function recordTogether(made: readonly MadeAttempt[], recordAttempts: RecordAttempts) {
  try {
    const held = await recordAttempts(made);
    return ({ claim }: MadeAttempt) => held.has(claim);
  } catch (error) {
    const byClaim = Map.groupBy(made, ({ claim }) => claim);
    if (byClaim.size === 1 || describeDatabaseError(error) !== null) throw error;
    const recordings = new Map(
      [...byClaim].map(([claim, attempts]) => [claim, recordAttempts(attempts)]),
    );
    await Promise.allSettled(recordings.values());
    return async ({ claim }: MadeAttempt) => (await recordings.get(claim))?.has(claim) === true;
  }
}
