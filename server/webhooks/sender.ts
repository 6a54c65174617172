// Sends what is due. Each webhook has a lane of its own, in which its deliveries follow each other in the order of
// their making; lanes run side by side, and those that fail share a few places, so a dead receiver slows nobody else.
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import { createLoop } from "../jobs/loop.ts";
import type { Attempt, MakeAttempt } from "./attempt.ts";
import type { DeliveryStore, DeliveryWithEvent } from "./delivery-store.ts";
import type { RecordAttempts, Tried } from "./record-attempt.ts";
import type { WebhookRow, WebhookStore } from "./webhook-store.ts";

export type SenderOptions = {
  db: Parameters<WebhookStore["byIds"]>[0];
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  attempt: MakeAttempt;
  recordAttempts: RecordAttempts;
  clock: Clock;
  log: Logger;
};

/** Webhooks that are called at the same time, and how many of them may be ones that failed last time. */
const mostLanes = 128;
const mostFailingLanes = 48;
/** Deliveries that a lane takes at once. */
const mostEach = 25;
/** For so long nobody else takes what was claimed; an attempt must fit in what is left of it. */
const claimMs = 60_000;
const longestAttemptMs = 20_000;
/** Retries that have come due are found so soon; new events wake the sender themselves. */
const everyMs = 1000;

export function createWebhookSender(options: SenderOptions) {
  const { db, webhooks, deliveries, attempt, recordAttempts, clock, log } = options;
  type Lane = { isFailing: boolean; ending: AbortController; done: Promise<void> };
  const lanes = new Map<number, Lane>();
  let tried: Tried[] = [];
  /** Resolves when everything tried so far is written down. */
  let written = Promise.resolve();

  async function writeLot(): Promise<void> {
    const lot = tried;
    tried = [];
    if (lot.length === 0) return;
    try {
      await recordAttempts(lot);
    } catch (error) {
      // The claim runs out, and they are sent again under the same id.
      log.error({ err: error, attempts: lot.length }, "attempts were made and not written down");
    }
  }

  /** Writes down all that was tried while the lot before it was being written. */
  function write(): Promise<void> {
    written = written.then(writeLot);
    return written;
  }

  async function runLane(queue: DeliveryWithEvent[], until: Date, signal: AbortSignal) {
    const writes: Promise<void>[] = [];
    while (queue.length > 0 && !signal.aborted) {
      if (clock.now() > until.getTime() - longestAttemptMs) break;
      const [next] = queue;
      if (next === undefined) break;
      // Deleted, disabled, given a new secret, asked for anew: what was claimed is a minute old at the most, and too old.
      const webhook = await deliveries.claimedStill(next.delivery.id, until, new Date(clock.now()));
      if (webhook === null) {
        queue.shift();
        continue;
      }
      const made: Attempt = await attempt(webhook, next, signal);
      // Nobody learns what became of it: the webhook is gone, or the service is being stopped and the next one sends it again.
      if (signal.aborted && made.code === null) break;
      queue.shift();
      tried.push({ webhook, claimedUntil: until, ...next, attempt: made });
      writes.push(write());
      if (!made.isDelivered) break;
    }
    await Promise.all(writes);
    const untried = queue.map(({ delivery }) => delivery.id);
    await deliveries.release(untried, until, new Date(clock.now()));
  }

  function startLane(webhook: WebhookRow, queue: DeliveryWithEvent[], until: Date): void {
    const ending = new AbortController();
    const signal = AbortSignal.any([stopping.signal, ending.signal]);
    const done = runLane(queue, until, signal)
      .catch((error: unknown) =>
        log.error({ err: error, webhook: webhook.id }, "a webhook's deliveries were not sent"),
      )
      .finally(() => {
        lanes.delete(webhook.id);
        loop.wake();
      });
    lanes.set(webhook.id, { isFailing: webhook.failing_since !== null, ending, done });
  }

  async function turn(): Promise<void> {
    const free = mostLanes - lanes.size;
    if (free <= 0) return;
    const failing = [...lanes.values()].filter(({ isFailing }) => isFailing).length;
    const nowMs = clock.now();
    const until = new Date(nowMs + claimMs);
    const claimed = await deliveries.claim({
      now: new Date(nowMs),
      until,
      busy: [...lanes.keys()],
      mostWebhooks: Math.min(free, failing >= mostFailingLanes ? free : mostFailingLanes - failing),
      mostEach,
      withFailing: failing < mostFailingLanes,
    });
    const byWebhook = Map.groupBy(claimed, ({ delivery }) => delivery.webhook_id);
    for (const webhook of await webhooks.byIds(db, [...byWebhook.keys()])) {
      startLane(webhook, byWebhook.get(webhook.id) ?? [], until);
      byWebhook.delete(webhook.id);
    }
    // There may be more than one turn takes.
    if (claimed.length > 0 && lanes.size < mostLanes) loop.wake();
  }

  const stopping = new AbortController();
  const loop = createLoop({ name: "sending of webhooks", everyMs, turn, clock, log });

  return {
    wake: loop.wake,
    /** Breaks off what is being sent to a webhook that was deleted. */
    abandon: (webhookId: number): void =>
      lanes.get(webhookId)?.ending.abort(new Error("The webhook was deleted.")),
    /** Ends the attempts under way; what they were about is sent at the next start. */
    async stop(): Promise<void> {
      await loop.stop();
      stopping.abort(new Error("The service is stopping."));
      await Promise.all([...lanes.values()].map(({ done }) => done));
      await written;
    },
  };
}

export type WebhookSender = ReturnType<typeof createWebhookSender>;
