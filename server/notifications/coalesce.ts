// Turns events into messages. The first event about a subject in a while is sent at once. Further ones within a minute are sent
// in one message at its end, so that a flapping worker does not cause a hundred messages. Events that wait because the channel is
// busy are coalesced as well.
import type { Clock } from "../clock.ts";
import { eventTitles } from "../../contract/event-titles.ts";
import { type EventType, problemEvents } from "../../contract/events.ts";
import type { EventChoice } from "../../contract/notifications/bodies.ts";
import { titleOf } from "../events/event.ts";
import { isOfServer, type DispatchedEvent, type Receive } from "../events/outbox-relay.ts";
import type { SingletonQueue } from "../jobs/singleton-queue.ts";
import type { Connection } from "../store/database.ts";
import type { ChannelStore } from "./channel-store.ts";
import type { FoundMessage, MessageRow, MessageStore } from "./message-store.ts";

const burstMs = 60_000;

const coalescedTitle = (event: EventType, count: number): string =>
  `${count} × ${eventTitles[event]}`;

export function createCoalesce(options: {
  messages: MessageStore;
  channels: ChannelStore;
  queue: Pick<SingletonQueue, "ensure">;
  clock: Clock;
}): Receive {
  const { messages, channels, queue, clock } = options;

  /** Returns when a message about the same subject may follow this one. Its times may date from before the clock was set back. */
  const quietUntil = ({ ended_at, created_at }: MessageRow, nowMs: number): number =>
    Math.min((ended_at ?? created_at).getTime(), nowMs) + burstMs;

  /** Coalesces an event with a waiting message. @returns false where its first attempt has begun */
  async function coalesce(
    tx: Connection,
    { message, isOfOneKind }: FoundMessage,
    event: DispatchedEvent,
  ): Promise<boolean> {
    const isSame = isOfOneKind && message.event === event.type;
    const title = isSame
      ? coalescedTitle(event.type, message.count + 1)
      : titleOf(event.type, event.notification);
    if (!(await messages.coalesce(tx, message.id, { event: event.type, title }))) return false;
    await messages.addEvent(tx, message.id, event.id);
    return true;
  }

  async function notify(tx: Connection, channelId: number, event: DispatchedEvent): Promise<void> {
    const nowMs = clock.now();
    const key = event.order_key ?? "";
    // Only the newest message about the subject may take the event: an older message must not hold newer events.
    const own = await messages.newestAbout(tx, channelId, key);
    if (own !== null && isUnsent(own.message)) {
      const isFit = own.isAboutOne || (own.isOfOneKind && own.message.event === event.type);
      if (isFit && (await coalesce(tx, own, event))) return;
    }
    const previous = own && (await messages.newestAbout(tx, channelId, key, event.type));
    const dueAt = new Date(
      Math.max(nowMs, previous === null ? 0 : quietUntil(previous.message, nowMs)),
    );
    // An event that has to wait joins one that waits for the same message, so that subjects that fail and recover together share a message.
    const behind = own === null || own.message.ended_at !== null ? null : own.message.id;
    const kind = { channelId, event: event.type, dueBy: dueAt, behind };
    const open = await messages.openOfKind(tx, kind);
    if (open !== null && (await coalesce(tx, open, event))) return;
    const row = await messages.insert(tx, {
      channel_id: channelId,
      event: event.type,
      title: titleOf(event.type, event.notification),
      next_attempt_at: dueAt,
      created_at: new Date(nowMs),
    });
    await messages.addEvent(tx, row.id, event.id);
  }

  return async (tx, events) => {
    const siteIds = [...new Set(events.flatMap((event) => event.siteIds))];
    const ofSites = await channels.ofOwners(tx, "site", siteIds);
    const serverIds = events.filter(isForServer).flatMap((event) => event.server_id ?? []);
    const ofServers = await channels.ofOwners(tx, "server", [...new Set(serverIds)]);
    // Events of the installation go to all channels in use.
    const ofAll = events.some(isOfInstallation) ? await channels.ofAll(tx) : [];
    const notified = events
      .filter(({ type }) => type !== "webhook.ping")
      .map((event) => ({
        event,
        // A Set, because several sites of one database may use the same channel.
        channelIds: new Set(
          [
            ...(isOfInstallation(event) ? ofAll : []),
            ...ofSites.filter(({ ownerId }) => event.siteIds.includes(ownerId)),
            ...(isForServer(event)
              ? ofServers.filter(({ ownerId }) => ownerId === event.server_id)
              : []),
          ]
            .filter(({ events: choice }) => isChosen(choice, event.type))
            .map(({ channelId }) => channelId),
        ),
      }));
    // Locks jobs before messages, in the order of the sender.
    const all = new Set(notified.flatMap(({ channelIds }) => [...channelIds]));
    await queue.ensure(
      tx,
      [...all].sort((a, b) => a - b).map((key) => ({ key, delayMs: 0 })),
    );
    for (const { event, channelIds } of notified)
      for (const channelId of channelIds) await notify(tx, channelId, event);
  };
}

const isChosen = (choice: EventChoice, type: EventType): boolean =>
  choice === "all" ||
  (choice === "problems" ? problemEvents : choice).some((chosen) => chosen === type);
/** Whether an event goes to the channels of the server: it is about the server, or belongs to no site. */
const isForServer = (event: DispatchedEvent): boolean =>
  isOfServer(event) || event.siteIds.length === 0;
const isOfInstallation = ({ server_id: id }: DispatchedEvent): boolean => id === null;
const isUnsent = ({ status, attempts }: MessageRow): boolean =>
  status === "pending" && attempts === 0;
