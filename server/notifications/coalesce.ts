// Makes messages of events. What happens to a thing for the first time in a while goes out at once. What happens to it again
// within a minute waits for the minute's end and goes out in one message, so that a worker that flaps is not a hundred
// messages; and what waits anyway, because the channel is being spoken to, goes out together.
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

  /** When a message that tells the same may follow this one. Its times may be of a clock that has been set back since. */
  const quietUntil = ({ ended_at, created_at }: MessageRow, nowMs: number): number =>
    Math.min((ended_at ?? created_at).getTime(), nowMs) + burstMs;

  /** Coalesces an event with a waiting message. @returns false when the message has been taken to be sent */
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
    // The newest message about the same thing decides: nothing newer may stand in an older one.
    const own = await messages.newestAbout(tx, channelId, key);
    if (own !== null && isUnsent(own.message)) {
      const isFit = own.isAboutOne || (own.isOfOneKind && own.message.event === event.type);
      if (isFit && (await coalesce(tx, own, event))) return;
    }
    const previous = own && (await messages.newestAbout(tx, channelId, key, event.type));
    const dueAt = new Date(
      Math.max(nowMs, previous === null ? 0 : quietUntil(previous.message, nowMs)),
    );
    // What has to wait goes along with what waits for the same: what fails and recovers together is not a message each.
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
    // What is about the installation belongs to no owner of channels, and is everybody's.
    const ofAll = events.some(isOfInstallation) ? await channels.ofAll(tx) : [];
    const notified = events
      .filter(({ type }) => type !== "webhook.ping")
      .map((event) => ({
        event,
        // A channel that three sites of one database use is notified once.
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
    // Their jobs are locked before their messages, as by the sender.
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
/** For the channels of the server: what is about itself, and what belongs to no site. */
const isForServer = (event: DispatchedEvent): boolean =>
  isOfServer(event) || event.siteIds.length === 0;
const isOfInstallation = ({ server_id: id }: DispatchedEvent): boolean => id === null;
const isUnsent = ({ status, attempts }: MessageRow): boolean =>
  status === "pending" && attempts === 0;
