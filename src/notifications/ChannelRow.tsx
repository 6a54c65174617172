import { memo, useId } from "react";
import type {
  Notification,
  NotificationChannel,
} from "../../contract/notifications/notification.ts";
import { Checkbox } from "../ui/form/Checkbox.tsx";
import { handFocusOn } from "../ui/focus/hand-focus-on.ts";
import { Icon } from "../ui/Icon.tsx";
import { addressOf, typeWord } from "./channel-facts.ts";
import { type ChannelSelection, checkboxId } from "./save-selection.ts";
import { ChannelEvents } from "./ChannelEvents.tsx";
import { LastMessage } from "./LastMessage.tsx";
import { SendTest } from "./SendTest.tsx";

type ChannelRowProps = {
  /** The selection of the site or server. */
  selection: ChannelSelection;
  /** The channel in the account's list, or the fewer fields of a site's own list. */
  channel: NotificationChannel | Notification;
  isChosen: boolean;
};

/** Below the name and aligned with it. */
const below = "col-span-2 ps-9 sm:ps-7";

/** Renders again only when its channel has changed: the cache keeps unchanged ones the same objects. */
export const ChannelRow = memo(function ChannelRow({
  selection,
  channel,
  isChosen,
}: ChannelRowProps) {
  const id = useId();
  const address = addressOf(channel);
  const ofAccount = "last_message" in channel ? channel : null;
  const trouble = ofAccount?.trouble ?? null;
  return (
    // On a wide page three columns: the channel, its last message, the test. Otherwise the test is next to the name.
    <li
      ref={handFocusOn}
      className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-4 border-b border-line px-4 py-3 text-sm last:border-b-0 max-sm:px-3 @3xl:grid-cols-[minmax(0,5fr)_minmax(0,6fr)_auto] @3xl:grid-rows-[auto_auto_1fr]"
    >
      <div className="col-start-1 row-start-1 flex min-w-0 gap-3">
        <span className="flex min-h-6 items-center self-start">
          <Checkbox
            id={checkboxId(channel.id)}
            aria-describedby={trouble === null ? `${id}-kind` : `${id}-kind ${id}-trouble`}
            checked={isChosen}
            isChange
            onChange={({ target }) => selection.check(channel, target.checked)}
          />
        </span>
        <label
          htmlFor={checkboxId(channel.id)}
          className="flex min-h-6 min-w-0 items-center text-base font-medium wrap-anywhere"
        >
          {channel.name}
        </label>
      </div>
      <p
        id={`${id}-kind`}
        className={`flex flex-wrap gap-x-2 text-muted ${below} @3xl:col-span-1 @3xl:row-start-2`}
      >
        {typeWord(channel.type)}
        {address !== null && <span className="font-mono text-xs/5 wrap-anywhere">{address}</span>}
      </p>
      {trouble !== null && (
        <p
          id={`${id}-trouble`}
          className={`mt-1 flex gap-1.5 text-warn ${below} @3xl:col-span-1 @3xl:row-start-3`}
        >
          <span className="mt-0.5">
            <Icon name="warning" />
          </span>
          <span className="min-w-0 wrap-anywhere">{trouble}</span>
        </p>
      )}
      {ofAccount !== null && (
        <>
          <div
            className={`mt-1 ${below} @3xl:col-span-1 @3xl:col-start-2 @3xl:row-span-3 @3xl:row-start-1 @3xl:mt-0 @3xl:ps-0`}
          >
            {ofAccount.last_message === null ? (
              <p className="min-h-6 text-muted @3xl:pt-0.5">No messages yet</p>
            ) : (
              <LastMessage message={ofAccount.last_message} trouble={trouble} />
            )}
          </div>
          <div className="col-start-2 row-start-1 @3xl:col-start-3 @3xl:row-span-3">
            <SendTest channel={ofAccount} />
          </div>
        </>
      )}
      {isChosen && (
        <div className="col-span-full ps-9 sm:ps-7">
          <ChannelEvents owner={selection.owner} channel={channel} />
        </div>
      )}
    </li>
  );
});
