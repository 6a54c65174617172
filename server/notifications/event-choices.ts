// Reads and replaces the events that each channel of a site or server is notified about.
import type { FieldErrors } from "../../contract/errors.ts";
import type { NotificationEvents } from "../../contract/notifications/notification.ts";
import type {
  EventChoice,
  UpdateNotificationEventsBody,
} from "../../contract/notifications/bodies.ts";
import { recordActivity } from "../activity/store.ts";
import { InvalidFields } from "../http/service-error.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { ChannelStore } from "./channel-store.ts";
import { activityOf, type NamedOwner } from "./notification-service.ts";

type Wanted = Partial<UpdateNotificationEventsBody>["channels"];
type Chosen = { channelId: number; events: EventChoice };

const normalized = (events: EventChoice): EventChoice =>
  typeof events === "string" ? events : [...new Set(events)].toSorted();

const textOf = (events: EventChoice): string => [events].flat().join(", ");

/** Returns errors, by position, for ids that are not a channel of the owner or that occur twice. */
function unknownAt(wanted: Wanted = [], present: readonly Chosen[]): FieldErrors {
  const ids = wanted.map(({ id }) => id);
  const errors: FieldErrors = {};
  for (const [index, id] of ids.entries())
    if (!present.some(({ channelId }) => channelId === id) || ids.indexOf(id) !== index)
      errors[`channels.${index}.id`] = [`The selected channels.${index}.id is invalid.`];
  return errors;
}

const toAnswer = (chosen: readonly Chosen[]): NotificationEvents => ({
  channels: chosen.map(({ channelId, events }) => ({ id: channelId, events })),
});

export function createEventChoices(channels: ChannelStore, inventory: InventoryStore) {
  const of = ({ kind, id }: NamedOwner) =>
    channels.transaction((tx) => channels.ofOwners(tx, kind, [id]));

  return {
    show: async (owner: NamedOwner) => toAnswer(await of(owner)),

    check: async (owner: NamedOwner, wanted: Wanted) => unknownAt(wanted, await of(owner)),

    /**
     * Replaces all choices of the owner; a channel without one gets all events.
     * @throws InvalidFields for ids that are not a channel of the owner, in which case nothing changes
     */
    async replace(owner: NamedOwner, { channels: wanted }: UpdateNotificationEventsBody) {
      const names = await inventory.findNotificationChannels(wanted.map(({ id }) => id));
      return channels.transaction(async (tx) => {
        const before = await channels.lockEvents(tx, owner);
        const errors = unknownAt(wanted, before);
        if (Object.keys(errors).length > 0) throw new InvalidFields(errors);
        const words: string[] = [];
        const after: Chosen[] = [];
        for (const { channelId, events: old } of before) {
          const events = normalized(wanted.find(({ id }) => id === channelId)?.events ?? "all");
          after.push({ channelId, events });
          if (textOf(events) === textOf(old)) continue;
          await channels.setEvents(tx, owner, channelId, events);
          words.push(`${names.get(channelId)?.name ?? `Channel ${channelId}`}: ${textOf(events)}`);
        }
        if (words.length > 0)
          await recordActivity(tx, {
            kind: "notification",
            action: "events chosen",
            ...activityOf(owner),
            detail: words.join("\n"),
          });
        return toAnswer(after);
      });
    },
  };
}

export type EventChoices = ReturnType<typeof createEventChoices>;
