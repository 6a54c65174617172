// The selection of the channels of a site or a server: changed on screen at once, then saved, and reverted if that
// fails.
import type { Notification } from "../../contract/notifications/notification.ts";
import type { Page } from "../../contract/paging.ts";
import { call } from "../api/client.ts";
import { invalidate, queryClient } from "../api/query.ts";
import { serverName, serverQuery, siteName, siteQuery } from "../app/inventory.ts";
import { dismissToast, toast } from "../app/toasts.ts";
import { savedText } from "./channel-facts.ts";
import {
  type Changes,
  type Selection,
  createSelection,
  inverse,
  type Owner,
} from "./channel-selection.ts";
import {
  type ChannelOwner,
  notificationEventsQuery,
  notificationsQuery,
  serverNotificationsQuery,
} from "./queries.ts";

const keyOf = ({ kind, id }: ChannelOwner) =>
  (kind === "site" ? notificationsQuery(id) : serverNotificationsQuery(id)).queryKey;

const used = (owner: ChannelOwner) =>
  queryClient.getQueryData<Page<Notification> | null>(keyOf(owner))?.data ?? [];

/** Refetches all pages. Without retries, like the save that follows. */
async function readUsed(owner: ChannelOwner): Promise<void> {
  const all = keyOf(owner).slice(0, 2);
  await queryClient.invalidateQueries({ queryKey: all, refetchType: "none" });
  const { kind, id } = owner;
  if (kind === "site") await queryClient.fetchQuery({ ...notificationsQuery(id), retry: false });
  else await queryClient.fetchQuery({ ...serverNotificationsQuery(id), retry: false });
}

async function save(owner: ChannelOwner, ids: readonly number[]): Promise<void> {
  const { kind, id } = owner;
  const queryKey = keyOf(owner);
  const options = { body: { channels: [...ids] } };
  try {
    const answer =
      kind === "site"
        ? await call("updateNotifications", { id }, options)
        : await call("updateServerNotifications", { id }, options);
    // Responses of earlier requests do not include this change.
    await queryClient.cancelQueries({ queryKey });
    if (answer !== undefined && answer.meta.last_page <= 1)
      queryClient.setQueryData(queryKey, answer);
    else await readUsed(owner);
    // Not awaited: the channels are saved, and their events are read separately.
    void queryClient.invalidateQueries({ queryKey: notificationEventsQuery(owner).queryKey });
  } catch (error) {
    // It may have been saved nevertheless, or a channel may be gone.
    void invalidate("listNotifications", "listServerNotifications", "listNotificationChannels");
    throw error;
  }
}

export const checkboxId = (channelId: number): string => `channel-${channelId}`;

/** For changes by checkbox: reported by toasts with an undo button. */
function makeCheckboxes(
  owner: ChannelOwner,
  nameOf: (id: number) => string,
  change: (changes: Changes) => void,
): Owner {
  let lastToast = 0;
  const nameOfOwner = () => {
    const { kind, id } = owner;
    const { queryKey } = kind === "site" ? siteQuery(id) : serverQuery(id);
    const found = queryClient.getQueryData<{ name: string }>(queryKey);
    return kind === "site" ? siteName(id, found) : serverName(id, found);
  };
  const undo = (changes: Changes) => {
    change(inverse(changes));
    // Restores the focus, which was in the toast.
    const [id = 0] = changes.keys();
    document.getElementById(checkboxId(id))?.focus();
  };
  return {
    saved(changes) {
      // One toast at a time: an older one would offer to undo what has changed again since.
      dismissToast(lastToast);
      if (changes.size === 0) return;
      const text = savedText(changes, nameOf, nameOfOwner());
      lastToast = toast.success(text, undefined, { label: "Undo", run: () => undo(changes) });
    },
    refused(error, changes) {
      const names = new Intl.ListFormat("en").format([...changes.keys()].map(nameOf));
      toast.failure(`Couldn't save the change to ${names}.`, error);
    },
  };
}

function makeChannelSelection(owner: ChannelOwner) {
  const selection: Selection = createSelection({
    refresh: () => readUsed(owner),
    current: () => used(owner).map(({ id }) => id),
    save: (ids) => save(owner, ids),
  });
  // Stored, because the name of a channel that is no longer used may be unknown.
  const names = new Map<number, string>();
  const nameOf = (id: number) => names.get(id) ?? `Channel ${id}`;
  const checkboxes = makeCheckboxes(owner, nameOf, (changes) =>
    selection.change(changes, checkboxes),
  );
  return {
    owner,
    unsaved: selection.unsaved,
    check({ id, name }: Notification, isChecked: boolean): void {
      names.set(id, name);
      selection.change(new Map([[id, isChecked]]), checkboxes);
    },
    /** Adds a channel of which only the id is known. */
    add: (id: number, owner: Owner) => selection.change(new Map([[id, true]]), owner),
  };
}

export type ChannelSelection = ReturnType<typeof makeChannelSelection>;

const selections = new Map<string, ChannelSelection>();

/** Returns the same selection for a site or server to all callers, so that a save continues when its page is left. */
export function channelSelection(owner: ChannelOwner): ChannelSelection {
  const key = `${owner.kind} ${owner.id}`;
  const selection = selections.get(key) ?? makeChannelSelection(owner);
  selections.set(key, selection);
  return selection;
}
