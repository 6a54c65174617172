// Sends what is due, one message at a time for each channel, and writes down what the provider said.
import type { Logger } from "pino";
import { theService } from "../activity/actor.ts";
import { recordActivity } from "../activity/store.ts";
import type { Clock } from "../clock.ts";
import type { InventoryStore } from "../inventory/store.ts";
import { createLoop } from "../jobs/loop.ts";
import { ChannelError } from "./channels/channel.ts";
import type { FormatMessage } from "./format-message.ts";
import type { MessageRow, MessageStore } from "./message-store.ts";
import type { countMessages } from "./metrics.ts";
import type { OpenChannel } from "./open-channel.ts";

export type MessageSenderOptions = {
  messages: MessageStore;
  inventory: InventoryStore;
  open: OpenChannel;
  formatMessage: FormatMessage;
  count: ReturnType<typeof countMessages>;
  clock: Clock;
  log: Logger;
};

/** Channels that are spoken to at the same time. */
const mostAtOnce = 16;
/** Channels end their own attempts sooner; this is for one that does not. */
const attemptMs = 30_000;
const claimMs = 60_000;
const everyMs = 1000;
/** Seconds between an attempt and the next one. */
const retrySeconds = [10, 60, 300, 1800, 7200];
/** No provider is waited for longer, whatever it asks. */
const longestWaitMs = 24 * 3600 * 1000;

type Outcome = { isDelivered: boolean; answer: string; waitMs: number | null };

export function createMessageSender(options: MessageSenderOptions) {
  const { messages, inventory, open, formatMessage, count, clock, log } = options;
  const lanes = new Map<number, Promise<void>>();
  const stopping = new AbortController();

  async function attempt(row: MessageRow): Promise<Outcome> {
    try {
      const events = await messages.eventsOf(row.id);
      const channel = await open(row.channel_id);
      const message = await formatMessage(row, events);
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(attemptMs)]);
      return { isDelivered: true, answer: await channel.send(message, signal), waitMs: null };
    } catch (error) {
      const isTold = error instanceof ChannelError;
      if (!isTold)
        log.error({ err: error, channel: row.channel_id }, "a notification was not sent");
      const seconds = retrySeconds[row.attempts - 1];
      const isOver = seconds === undefined || (isTold && error.isPermanent);
      const askedMs = Math.min(isTold ? (error.retryAfterMs ?? 0) : 0, longestWaitMs);
      return {
        isDelivered: false,
        answer: isTold
          ? error.message
          : "Couldn't send the message. See the service's log for the reason.",
        waitMs: isOver ? null : Math.max(seconds * 1000, askedMs),
      };
    }
  }

  async function deliver(row: MessageRow): Promise<void> {
    const { isDelivered, answer, waitMs } = await attempt(row);
    // The claim runs out, and the next service sends it.
    if (stopping.signal.aborted && !isDelivered) return;
    const now = new Date(clock.now());
    const isOver = waitMs === null;
    const status = isDelivered ? "delivered" : isOver ? "failed" : "retrying";
    const channel = await inventory.findNotificationChannel(row.channel_id);
    const servers = new Set((await messages.eventsOf(row.id)).map((event) => event.server_id));
    await messages.transaction(async (tx) => {
      await messages.update(tx, row.id, {
        status,
        answer,
        next_attempt_at: isOver ? null : new Date(now.getTime() + waitMs),
        ended_at: isOver ? now : null,
      });
      if (!isOver || channel === null) return;
      await recordActivity(tx, {
        kind: "notification",
        action: isDelivered ? "told" : "not told",
        outcome: isDelivered ? "good" : "bad",
        object: { type: "notification-channel", id: channel.id, name: channel.name },
        // What tells of several servers is of none of them: a token of one may not see the others.
        server_id: servers.size === 1 ? ([...servers][0] ?? null) : null,
        detail: `${row.title}: ${answer}`,
        actor: theService,
      });
    });
    if (channel !== null) count(channel.type, status);
  }

  const loop = createLoop({
    name: "sending of notifications",
    everyMs,
    async turn() {
      const free = mostAtOnce - lanes.size;
      if (free <= 0) return;
      const nowMs = clock.now();
      const claimed = await messages.claim({
        now: new Date(nowMs),
        until: new Date(nowMs + claimMs),
        busy: [...lanes.keys()],
        most: free,
      });
      for (const row of claimed) {
        const done = deliver(row)
          .catch((error: unknown) =>
            log.error(
              { err: error, message: row.id },
              "what became of a notification is not known",
            ),
          )
          .finally(() => {
            lanes.delete(row.channel_id);
            loop.wake();
          });
        lanes.set(row.channel_id, done);
      }
    },
    clock,
    log,
  });

  return {
    wake: loop.wake,
    async stop(): Promise<void> {
      await loop.stop();
      stopping.abort(new Error("The service is stopping."));
      await Promise.all(lanes.values());
    },
  };
}

export type MessageSender = ReturnType<typeof createMessageSender>;
