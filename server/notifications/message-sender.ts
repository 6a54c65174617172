// Sends due messages, one at a time per channel, and records the responses of the providers.
import type { Logger } from "pino";
import { theService } from "../activity/actor.ts";
import { recordActivity } from "../activity/store.ts";
import type { Clock } from "../clock.ts";
import type { InventoryStore } from "../inventory/store.ts";
import { ClaimLost, type Claim } from "../jobs/job-runner.ts";
import type { SingletonQueue, SingletonQueueWork } from "../jobs/singleton-queue.ts";
import type { Connection } from "../store/database.ts";
import { ChannelError } from "./channels/channel.ts";
import type { FormatMessage } from "./format-message.ts";
import type { MessageRow, MessageStore } from "./message-store.ts";
import type { countMessages } from "./metrics.ts";
import type { OpenChannel } from "./open-channel.ts";

type MessageSenderOptions = {
  messages: MessageStore;
  inventory: InventoryStore;
  open: OpenChannel;
  formatMessage: FormatMessage;
  count: ReturnType<typeof countMessages>;
  queue: Pick<SingletonQueue, "hold">;
  clock: Clock;
  log: Logger;
};

/** Limit of an attempt, for a channel that does not enforce its own limit. */
const attemptMs = 11 * 60_000;
/** How long a job sends the messages of one channel before the jobs of other channels get their turn. */
const longestTurnMs = 60_000;
/** Seconds from each failed attempt to the next. */
const retrySeconds = [10, 60, 300, 1800, 7200];
/** Limit of Retry-After. */
export const longestWaitMs = 24 * 3600 * 1000;

/**
 * Limit for holding back other messages of the channel, which have no response to show meanwhile. Providers rarely ask for more
 * than a minute.
 */
const longestHoldMs = 15 * 60 * 1000;

type Outcome = {
  isDelivered: boolean;
  answer: string;
  waitMs: number | null;
  /** How long the provider asked to get no message at all. */
  askedMs: number;
};

/** Creates the functions that do a channel's job and return when its next job is due. */
export function createMessageSender(options: MessageSenderOptions): SingletonQueueWork {
  const { messages, inventory, open, formatMessage, count, queue, clock, log } = options;
  /** Waits that providers requested, by channel. Kept only in memory: after a restart, one more attempt gets them again. */
  const holds = new Map<number, { atMs: number; forMs: number }>();

  function heldUntil(channelId: number): Date {
    const { atMs, forMs } = holds.get(channelId) ?? { atMs: 0, forMs: 0 };
    // A hold that begins in the future was made before the clock was set back.
    return new Date(atMs > clock.now() ? 0 : atMs + forMs);
  }

  /** @throws ClaimLost where another runner has the channel's job now */
  async function hold(tx: Connection, claim: Claim): Promise<void> {
    if (!(await queue.hold(tx, [claim])).has(claim)) throw new ClaimLost();
  }

  async function attempt(row: MessageRow, stop: AbortSignal): Promise<Outcome> {
    try {
      const events = await messages.eventsOf(row.id);
      const channel = await open(row.channel_id);
      const message = await formatMessage(row, events);
      const signal = AbortSignal.any([stop, AbortSignal.timeout(attemptMs)]);
      const answer = await channel.send(message, signal);
      return { isDelivered: true, answer, waitMs: null, askedMs: 0 };
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
        askedMs,
      };
    }
  }

  async function deliver(due: MessageRow, claim: Claim, stop: AbortSignal): Promise<void> {
    const row = await messages.transaction(async (tx) => {
      await hold(tx, claim);
      return messages.begin(tx, due.id);
    });
    if (row === null) return;
    const { isDelivered, answer, waitMs, askedMs } = await attempt(row, stop);
    if (stop.aborted && !isDelivered) {
      // The message stays due, and the next start sends it.
      await messages.transaction(async (tx) => {
        await hold(tx, claim);
        await messages.forgetAttempt(tx, row.id);
      });
      return;
    }
    const now = new Date(clock.now());
    if (askedMs > 0)
      holds.set(row.channel_id, {
        atMs: now.getTime(),
        forMs: Math.min(askedMs, longestHoldMs),
      });
    const isOver = waitMs === null;
    const status = isDelivered ? "delivered" : isOver ? "failed" : "retrying";
    const channel = await inventory.findNotificationChannel(row.channel_id);
    const servers = new Set((await messages.eventsOf(row.id)).map((event) => event.server_id));
    await messages.transaction(async (tx) => {
      await hold(tx, claim);
      await messages.update(tx, row.id, {
        status,
        answer,
        next_attempt_at: isOver ? null : new Date(now.getTime() + waitMs),
        ended_at: isOver ? now : null,
      });
      if (!isOver || channel === null) return;
      await recordActivity(tx, {
        kind: "notification",
        action: isDelivered ? "notified" : "undelivered",
        outcome: isDelivered ? "good" : "bad",
        object: { type: "notification-channel", id: channel.id, name: channel.name },
        // A message about several servers is listed under none: a token for one must not see the others.
        server_id: servers.size === 1 ? ([...servers][0] ?? null) : null,
        detail: `${row.title}: ${answer}`,
        actor: theService,
      });
    });
    if (channel !== null) count(channel.type, status);
  }

  return {
    async perform(channelId, claim, signal) {
      const endMs = clock.now() + longestTurnMs;
      while (!signal.aborted && clock.now() < endMs) {
        const due = await messages.due(channelId, new Date(clock.now()), heldUntil(channelId));
        if (due === null) return;
        await deliver(due, claim, signal);
      }
    },
    async next(tx, channelId) {
      const dueAt = await messages.nextOf(tx, channelId, heldUntil(channelId));
      return dueAt === null ? null : { delayMs: dueAt.getTime() - clock.now() };
    },
  };
}
