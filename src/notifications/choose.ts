// The choice of a site's channels: checked at once on screen, saved at the service, back if that refuses.
import type { Notification } from "../../contract/notifications/notification.ts";
import type { Page } from "../../contract/paging.ts";
import { call } from "../api/client.ts";
import { invalidate, queryClient } from "../api/query.ts";
import { siteName, siteQuery } from "../app/inventory.ts";
import { dismissToast, toast } from "../app/toasts.ts";
import { savedText } from "./channel-facts.ts";
import { type Changes, type Choice, createChoice, inverse, type Owner } from "./choice.ts";
import { notificationsQuery } from "./queries.ts";

const used = (siteId: number) =>
  queryClient.getQueryData<Page<Notification>>(notificationsQuery(siteId).queryKey)?.data ?? [];

async function save(siteId: number, ids: readonly number[]): Promise<void> {
  const query = notificationsQuery(siteId);
  try {
    const answer = await call(
      "updateNotifications",
      { id: siteId },
      { body: { channels: [...ids] } },
    );
    // What was asked for before knows nothing of this.
    await queryClient.cancelQueries({ queryKey: query.queryKey });
    if (answer !== undefined && answer.meta.last_page <= 1)
      queryClient.setQueryData(query.queryKey, answer);
    else {
      // Its pages as well.
      const queryKey = query.queryKey.slice(0, 2);
      await queryClient.invalidateQueries({ queryKey, refetchType: "none" });
      await queryClient.fetchQuery(query);
    }
  } catch (error) {
    // It may have been saved all the same, or a channel may be gone.
    void invalidate("listNotifications", "listNotificationChannels");
    throw error;
  }
}

export const checkboxId = (channelId: number): string => `channel-${channelId}`;

/** Who changes by checkbox: told in toasts, with the way back. */
function makeCheckboxes(
  siteId: number,
  nameOf: (id: number) => string,
  change: (changes: Changes) => void,
): Owner {
  let lastToast = 0;
  const nameOfSite = () =>
    siteName(siteId, queryClient.getQueryData<{ name: string }>(siteQuery(siteId).queryKey));
  const undo = (changes: Changes) => {
    change(inverse(changes));
    // The toast that held the focus is gone.
    const [id = 0] = changes.keys();
    document.getElementById(checkboxId(id))?.focus();
  };
  return {
    saved(changes) {
      // One at a time: an older one would offer to undo what has changed again since.
      dismissToast(lastToast);
      if (changes.size === 0) return;
      const text = savedText(changes, nameOf, nameOfSite());
      lastToast = toast.success(text, undefined, { label: "Undo", run: () => undo(changes) });
    },
    refused(error, changes) {
      const names = new Intl.ListFormat("en").format([...changes.keys()].map(nameOf));
      toast.failure(`The change to ${names} was not saved.`, error);
    },
  };
}

function makeSiteChoice(siteId: number) {
  const choice: Choice = createChoice({
    current: () => used(siteId).map(({ id }) => id),
    save: (ids) => save(siteId, ids),
  });
  // Kept, because of a channel that is no longer used nobody may know the name any more.
  const names = new Map<number, string>();
  const nameOf = (id: number) => names.get(id) ?? `Channel ${id}`;
  const checkboxes = makeCheckboxes(siteId, nameOf, (changes) =>
    choice.change(changes, checkboxes),
  );
  return {
    unsaved: choice.unsaved,
    check({ id, name }: Notification, isChecked: boolean): void {
      names.set(id, name);
      choice.change(new Map([[id, isChecked]]), checkboxes);
    },
    /** For a channel that only its id is known of. */
    add: (id: number, owner: Owner) => choice.change(new Map([[id, true]]), owner),
  };
}

const choices = new Map<number, ReturnType<typeof makeSiteChoice>>();

/** The same for a site whoever asks, so that a save goes on when its page is left. */
export function siteChoice(siteId: number) {
  const choice = choices.get(siteId) ?? makeSiteChoice(siteId);
  choices.set(siteId, choice);
  return choice;
}
