// Sends due deliveries. One job sends all deliveries of a webhook, in order; jobs of failing webhooks share a few slots, so that
// a dead receiver delays nobody else.
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

/** Deliveries of a webhook that are read at once. */
const batchSize = 50;
/** How long a job continues while deliveries are due, before it lets other webhooks take a turn. */
const longestTurnMs = 10_000;

/**
 * Pause between two recordings, so that under load more attempts share one transaction. After a kill, the next start sends the
 * unrecorded deliveries again.
 */
const betweenRecordingsMs = 20;

/** Creates the functions that do a webhook's job and return when its next job is due. */
export function createWebhookSender(options: SenderOptions): SingletonQueueWork {
  const { deliveries, attempt, recordAttempts, clock } = options;
  const webhookOf = createBatcher((checks: readonly Due[]) =>
    deliveries.stillDue(checks, new Date(clock.now())),
  );
  const holdsAfterRecording = createBatcher(
    (made: MadeAttempt[]) => recordTogether(made, recordAttempts),
    betweenRecordingsMs,
  );

  /** Stores an attempt, in one transaction with others made at the same time. */
  async function record(made: MadeAttempt): Promise<void> {
    if (!(await holdsAfterRecording(made))) throw new ClaimLost();
  }

  /** @returns whether deliveries were sent and none failed, so that more may be due */
  async function sendBatch(webhookId: number, claim: Claim, signal: AbortSignal): Promise<boolean> {
    const due = await deliveries.due(webhookId, new Date(clock.now()), batchSize);
    const recorded: Promise<void>[] = [];
    let isWorking = false;
    for (const next of due) {
      if (signal.aborted) break;
      const dueAt = next.delivery.next_attempt_at;
      if (dueAt === null) continue;
      // Read again before each attempt: meanwhile the webhook may have been deleted, disabled or given a new secret.
      const webhook = await webhookOf({ id: next.delivery.id, dueAt });
      if (webhook === null) continue;
      const result: Attempt = await attempt(webhook, next, signal);
      // The webhook was deleted, or the service stops and the next start sends the delivery again.
      if (signal.aborted && result.code === null) break;
      const recording = record({ webhook, claim, dueAt, ...next, attempt: result });
      // A rejection is handled below, after further attempts.
      recording.catch(() => undefined);
      recorded.push(recording);
      isWorking = result.isDelivered;
      // A failing webhook gets one attempt in a turn.
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

/** A job for a webhook that has a due delivery. */
export const sendNow = ({
  id,
  failing_since: failing,
}: Pick<WebhookRow, "id" | "failing_since">): NextJob => ({
  key: id,
  delayMs: 0,
  isSlow: failing !== null,
});

/**
 * Records attempts in one transaction. If the database refuses it, the attempts of each claim get a transaction of their own, so that
 * one that cannot be recorded does not affect the others: its job runs again, and sends the delivery again under the same id.
 * @returns a function that returns whether the claim of an attempt was still held
 * @throws errors that have another cause than the attempts, such as a lost connection, after which it is unknown what was recorded
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
