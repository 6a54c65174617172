// What the notifications' page asks the service. A set that is saved whole has to be read whole: all pages.
import type {
  ChannelMessage,
  Notification,
  NotificationChannel,
} from "../../contract/notifications/notification.ts";
import { maxPerPage, type Page } from "../../contract/paging.ts";
import { fetchAllPages } from "../api/fetch-all-pages.ts";
import { extraQuery, query, queryClient } from "../api/query.ts";

const wholePage = (page: number) => ({
  per_page: String(maxPerPage),
  ...(page > 1 && { page: String(page) }),
});

/** Who uses channels: a site, or a server for what belongs to none of its sites. */
export type ChannelOwner = { kind: "site" | "server"; id: number };

/** The channels that a site uses. */
export const notificationsQuery = (siteId: number) =>
  fetchAllPages<Notification>((page) =>
    query("listNotifications", { id: siteId }, wholePage(page)),
  );

/** The channels that a server uses; null from a service that knows none of its own. */
export const serverNotificationsQuery = (serverId: number) =>
  fetchAllPages<Notification, null>((page) =>
    extraQuery("listServerNotifications", { id: serverId }, wholePage(page)),
  );

/** The channels of the account; null from a service that does not list them. */
export const channelsQuery = () =>
  fetchAllPages<NotificationChannel, null>((page) =>
    extraQuery("listNotificationChannels", {}, wholePage(page)),
  );

/** Puts a message that was just made where the list is going to have it. */
export function showMessage(message: ChannelMessage): void {
  queryClient.setQueryData<Page<NotificationChannel> | null>(channelsQuery().queryKey, (list) =>
    list?.data === undefined
      ? list
      : {
          ...list,
          data: list.data.map((channel) =>
            channel.id === message.channel_id ? { ...channel, last_message: message } : channel,
          ),
        },
  );
}
