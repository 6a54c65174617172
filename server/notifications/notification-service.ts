// The rules of notifications: which channels a site or a server uses, and tests by hand.
import { recordActivity } from "../activity/store.ts";
import type { Clock } from "../clock.ts";
import type { Visible } from "../events/visible-messages.ts";
import { InvalidFields, unauthorized } from "../http/service-error.ts";
import type { SingletonQueue } from "../jobs/singleton-queue.ts";
import type { InventoryStore, NotificationChannelEntry } from "../inventory/store.ts";
import type { ChannelOwner, ChannelStore } from "./channel-store.ts";
import { longestWaitMs } from "./message-sender.ts";
import type { MessageRow, MessageStore } from "./message-store.ts";

type NotificationServiceOptions = {
  messages: MessageStore;
  channels: ChannelStore;
  inventory: InventoryStore;
  queue: Pick<SingletonQueue, "ensure">;
  clock: Clock;
};

export type NamedOwner = ChannelOwner & { name: string; serverId: number };

/** Returns object, server and site of timeline entries about an owner's channels. */
export const activityOf = ({ kind, id, name, serverId }: NamedOwner) => ({
  object: { type: kind, id, name },
  server_id: serverId,
  ...(kind === "site" && { site_id: id }),
});

export function createNotificationService(options: NotificationServiceOptions) {
  const { messages, channels, inventory, queue, clock } = options;

  /** @returns errors, by position, for ids of channels that are not in the inventory */
  function unknownAt(
    ids: readonly number[],
    known: ReadonlyMap<number, NotificationChannelEntry>,
  ): Record<string, string[]> {
    const errors: Record<string, string[]> = {};
    for (const [index, id] of ids.entries())
      if (!known.has(id))
        errors[`channels.${index}`] = [`The selected channels.${index} is invalid.`];
    return errors;
  }

  return {
    async channelsOf(owner: ChannelOwner): Promise<NotificationChannelEntry[]> {
      const ids = await channels.of(owner);
      const known = await inventory.findNotificationChannels(ids);
      return ids.flatMap((id) => known.get(id) ?? []);
    },

    /** @throws InvalidFields for ids of channels that are not in the inventory; nothing changes then */
    async choose(owner: NamedOwner, ids: readonly number[]): Promise<void> {
      const wanted = [...new Set(ids)];
      const known = await inventory.findNotificationChannels(wanted);
      const errors = unknownAt(ids, known);
      if (Object.keys(errors).length > 0) throw new InvalidFields(errors);
      await channels.transaction(async (tx) => {
        const before = await channels.replace(tx, owner, wanted);
        // A channel was removed from the inventory meanwhile.
        if (before === null)
          throw new InvalidFields(
            unknownAt(ids, await inventory.findNotificationChannels(wanted, tx)),
          );
        const isSame = before.length === wanted.length && wanted.every((id) => before.includes(id));
        if (isSame) return;
        await recordActivity(tx, {
          kind: "notification",
          action: "chosen",
          ...activityOf(owner),
          detail: `Channels: ${wanted.length === 0 ? "none" : wanted.map((id) => known.get(id)?.name).join(", ")}`,
        });
      });
    },

    newestOf: (channelIds: readonly number[], visible: Visible) =>
      messages.newestOf(channelIds, visible),

    /** @throws ServiceError for a token whose servers do not use the channel, because a test notifies people */
    async test(channel: NotificationChannelEntry, visible: Visible): Promise<MessageRow> {
      if (visible !== null && !(await channels.isUsedOn(channel.id, visible))) throw unauthorized();
      const now = new Date(clock.now());
      return messages.transaction(async (tx) => {
        await queue.ensure(tx, [{ key: channel.id, delayMs: 0 }]);
        await recordActivity(tx, {
          kind: "notification",
          action: "tested",
          object: { type: "notification-channel", id: channel.id, name: channel.name },
          server_id: null,
        });
        return messages.insert(tx, {
          channel_id: channel.id,
          event: "channel.test",
          title: "Test message from Quarterdeck",
          next_attempt_at: now,
          created_at: now,
        });
      });
    },

    /** Adds missing jobs for unsent messages, and ends waits that are too long because the clock was set back. */
    catchUp: (): Promise<void> =>
      messages.transaction(async (tx) => {
        const ids = await messages.channelsWithUnsent(tx);
        await queue.ensure(
          tx,
          ids.map((key) => ({ key, delayMs: 0 })),
        );
        await messages.endLongWaits(tx, new Date(clock.now()), longestWaitMs);
      }),
  };
}

export type NotificationService = ReturnType<typeof createNotificationService>;
