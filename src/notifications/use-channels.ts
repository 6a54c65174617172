import { useState } from "react";
import type { Notification } from "../../contract/notifications/notification.ts";
import { makePoller } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { useStore } from "../store.ts";
import { withChanges } from "./channel-selection.ts";
import { channelSelection } from "./save-selection.ts";
import { type ChannelOwner, channelsQuery } from "./queries.ts";

/**
 * Returns the account's channels, null where the service does not list them, and which of them are checked.
 * @param used read in the component that calls this: separate reads would briefly show neither an unsaved change nor
 * its response
 */
export function useChannels(owner: ChannelOwner, used: readonly Notification[]) {
  const [poll] = useState(() => makePoller());
  const selection = channelSelection(owner);
  const unsaved = useStore(selection.unsaved);
  const ids = used.map(({ id }) => id);
  const channels = useLoaded(
    channelsQuery(),
    (list) => list !== null && poll(list.data.flatMap(({ last_message: last }) => last ?? [])),
  );
  return {
    selection,
    chosen: new Set(withChanges(ids, unsaved)),
    channels: channels?.data ?? null,
  };
}
