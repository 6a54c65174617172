// Lists of channels with checkboxes, for a site or a server.
import type {
  Notification,
  NotificationChannel,
} from "../../contract/notifications/notification.ts";
import { EmptyState } from "../ui/feedback/EmptyState.tsx";
import { Icon } from "../ui/Icon.tsx";
import { ChannelRow } from "./ChannelRow.tsx";
import { type ChannelSelection } from "./save-selection.ts";
import { InventoryHelp } from "./InventoryHelp.tsx";

export type ListProps = {
  selection: ChannelSelection;
  channels: readonly (NotificationChannel | Notification)[];
  chosen: ReadonlySet<number>;
  /** Says what a checked channel is notified about. */
  intro: string;
};

export function ChannelList({ selection, channels, chosen, intro }: ListProps) {
  return (
    <>
      <p className="border-b border-line bg-sunken px-4 py-2.5 text-sm text-muted max-sm:px-3">
        {intro}
      </p>
      <ul aria-label="Notification channels">
        {channels.map((channel) => (
          <ChannelRow
            key={channel.id}
            selection={selection}
            channel={channel}
            isChosen={chosen.has(channel.id)}
          />
        ))}
      </ul>
    </>
  );
}

/** All channels of the account, checked or not. */
export function AccountChannels({ channels, ...list }: ListProps) {
  if (channels.length === 0)
    return (
      <>
        <EmptyState title="No notification channels" art="notifications">
          Channels notify your team about failed backups, failed workers and deployments. Add a
          channel to the inventory to select it here.
        </EmptyState>
        <div className="-mt-6 grid justify-items-center px-4 pb-10 max-sm:px-3">
          <InventoryHelp />
        </div>
      </>
    );
  return (
    <>
      <ChannelList channels={channels} {...list} />
      <details className="group border-t border-line">
        <summary className="flex min-h-11 list-none items-center gap-3 px-4 py-2 text-sm text-muted -outline-offset-2 hover:bg-hover max-sm:px-3">
          Add a channel
          <span className="ms-auto group-open:rotate-180">
            <Icon name="down" />
          </span>
        </summary>
        <div className="px-4 pt-1 pb-4 text-sm max-sm:px-3">
          <InventoryHelp />
        </div>
      </details>
    </>
  );
}
