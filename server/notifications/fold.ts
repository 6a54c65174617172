// Makes messages of events. The first of a kind goes out at once; those that follow within a minute are folded into
// one more, which goes out when the minute is over: a storage that dies is two messages, not two hundred.
import type { Clock } from "../clock.ts";
import { eventWords, type EventType } from "../../contract/events.ts";
import { titleOf } from "../events/event.ts";
import type { Receive, ToldEvent } from "../events/teller.ts";
import type { Connection } from "../store/database.ts";
import type { MessageRow, MessageStore } from "./message-store.ts";
import type { SiteChannelStore } from "./site-channel-store.ts";

const burstMs = 60_000;

export const foldedTitle = (event: EventType, count: number): string =>
  `${count} × ${eventWords[event]}`;

export function createFold(options: {
  messages: MessageStore;
  siteChannels: SiteChannelStore;
  clock: Clock;
}): Receive {
  const { messages, siteChannels, clock } = options;

  /** When a message that tells of the same kind may follow this one. */
  const quietUntil = ({ ended_at, created_at }: MessageRow): number =>
    (ended_at ?? created_at).getTime() + burstMs;

  async function tell(tx: Connection, channelId: number, event: ToldEvent): Promise<void> {
    const nowMs = clock.now();
    const last = await messages.newestOfKind(tx, channelId, event.type);
    if (last !== null && last.status === "pending" && last.attempts === 0) {
      if (await messages.fold(tx, last.id, foldedTitle(event.type, last.count + 1)))
        return messages.addEvent(tx, last.id, event.id);
    }
    const row = await messages.insert(tx, {
      channel_id: channelId,
      event: event.type,
      title: titleOf(event.type, event.news),
      next_attempt_at: new Date(last === null ? nowMs : Math.max(nowMs, quietUntil(last))),
      created_at: new Date(nowMs),
    });
    await messages.addEvent(tx, row.id, event.id);
  }

  return async (tx, events) => {
    const siteIds = [...new Set(events.flatMap((event) => event.siteIds))];
    const used = await siteChannels.ofSites(tx, siteIds);
    for (const event of events) {
      if (event.type === "webhook.ping") continue;
      // A database of three sites that use one channel is told of there once.
      const channelIds = new Set(
        used.filter(({ siteId }) => event.siteIds.includes(siteId)).map((row) => row.channelId),
      );
      for (const channelId of channelIds) await tell(tx, channelId, event);
    }
  };
}
