// The events that a selected channel of a site or server gets. Changes are saved at once, like the selection.
import { useQuery } from "@tanstack/react-query";
import { isLast, useMutation } from "../api/mutate.ts";
import { useState } from "react";
import {
  problemEvents,
  subscribableEvents,
  type SubscribableEvent,
} from "../../contract/events.ts";
import { eventTitles } from "../../contract/event-titles.ts";
import type {
  Notification,
  NotificationEvents,
} from "../../contract/notifications/notification.ts";
import type { EventChoice } from "../../contract/notifications/bodies.ts";
import { call } from "../api/client.ts";
import { queryClient } from "../api/query.ts";
import { toast } from "../app/toasts.ts";
import { useChangeRefusal } from "../commands/permission.ts";
import { EventChecklist } from "../ui/form/EventChecklist.tsx";
import { Field } from "../ui/form/Field.tsx";
import { Select } from "../ui/form/Select.tsx";
import { type ChannelOwner, notificationEventsQuery } from "./queries.ts";

type Saved = NotificationEvents["channels"][number]["events"];

/** Converts saved events to a choice; a newer service may use other words. */
const toChoice = (saved: Saved): EventChoice =>
  typeof saved === "string"
    ? saved === "problems"
      ? saved
      : "all"
    : subscribableEvents.filter((event) => saved.includes(event));

function useSave(owner: ChannelOwner, { id, name }: Notification) {
  const { queryKey, queryFn } = notificationEventsQuery(owner);
  const mutationKey = ["events of channels", owner.kind, `${owner.id}`];
  const patch = (events: EventChoice) =>
    queryClient.setQueryData<NotificationEvents | null>(queryKey, (saved) =>
      saved
        ? { channels: saved.channels.map((one) => (one.id === id ? { id, events } : one)) }
        : saved,
    );
  return useMutation({
    mutationKey,
    // Serialized, because each request sends the whole set.
    scope: { id: mutationKey.join(" ") },
    onMutate: async (events: EventChoice) => {
      await queryClient.cancelQueries({ queryKey });
      patch(events);
    },
    mutationFn: async (events: EventChoice) => {
      // Read again, because somebody else may have changed the events of other channels.
      const saved = await queryFn();
      const channels = (saved?.channels ?? []).map((one) => ({
        id: one.id,
        events: one.id === id ? events : toChoice(one.events),
      }));
      const { kind, id: ownerId } = owner;
      return kind === "site"
        ? call("updateNotificationEvents", { id: ownerId }, { body: { channels } })
        : call("updateServerNotificationEvents", { id: ownerId }, { body: { channels } });
    },
    onError: (error) => toast.failure(`Couldn't save the events of ${name}.`, error),
    // Also after a success: a change of the selection reads the events again, and may have got those of before.
    onSettled: () => {
      if (isLast(mutationKey)) void queryClient.invalidateQueries({ queryKey });
    },
  });
}

type ChannelEventsProps = { owner: ChannelOwner; channel: Notification };

export function ChannelEvents({ owner, channel }: ChannelEventsProps) {
  const { data } = useQuery(notificationEventsQuery(owner));
  const { mutate: save } = useSave(owner, channel);
  const refusal = useChangeRefusal(true);
  const [error, setError] = useState<string>();
  const saved = data?.channels.find(({ id }) => id === channel.id);
  // The selection is still being saved, or the service has no choice of events.
  if (saved === undefined) return null;
  const choice = toChoice(saved.events);
  const set = (events: EventChoice) => {
    const isNone = events.length === 0;
    setError(isNone ? "Choose at least one event, or deselect the channel." : undefined);
    if (!isNone) save(events);
  };
  return (
    <div className="grid gap-2 pt-2">
      <div className="max-w-52">
        <Field label={`Events for ${channel.name}`} help={refusal}>
          {(aria) => (
            <Select
              {...aria}
              disabled={refusal !== undefined}
              value={typeof choice === "string" ? choice : "some"}
              onChange={({ target: { value } }) =>
                // Initially problems, like most selections of events.
                set(value === "all" || value === "problems" ? value : [...problemEvents])
              }
            >
              <option value="all">All events</option>
              <option value="problems">Problems only</option>
              <option value="some">Chosen events…</option>
            </Select>
          )}
        </Field>
      </div>
      {typeof choice !== "string" && (
        <EventChecklist<SubscribableEvent>
          legend={`Chosen events for ${channel.name}`}
          events={subscribableEvents}
          labelOf={(event) => eventTitles[event]}
          chosen={choice}
          onChange={set}
          error={error}
          isChange
        />
      )}
    </div>
  );
}
