// Queries of the notification pages. A set that is saved as a whole must be read as a whole, so all pages are fetched.
import { addOperations } from "../api/client.ts";
import {
  notificationExtras,
  notificationOperations,
} from "../../contract/notifications/operations.ts";
import type {
  ChannelMessage,
  Notification,
  NotificationChannel,
  NotificationEvents,
} from "../../contract/notifications/notification.ts";
import type { Page } from "../../contract/paging.ts";
import { fetchAllPages } from "../api/fetch-all-pages.ts";
import { largePageQuery } from "../api/page-query.ts";
import { type DataQuery, extraQuery, query, queryClient } from "../api/query.ts";

addOperations({ ...notificationOperations, ...notificationExtras });

/** What uses channels: a site, or a server for events that belong to none of its sites. */
export type ChannelOwner = { kind: "site" | "server"; id: number };

/** The channels that a site uses. */
export const notificationsQuery = (siteId: number) =>
  fetchAllPages<Notification>((page) =>
    query("listNotifications", { id: siteId }, largePageQuery(page)),
  );

/** The channels that a server uses; null for a service without them. */
export const serverNotificationsQuery = (serverId: number) =>
  fetchAllPages<Notification, null>((page) =>
    extraQuery("listServerNotifications", { id: serverId }, largePageQuery(page)),
  );

/** The events that each channel of an owner gets; null for a service where all channels get all events. */
export const notificationEventsQuery = ({
  kind,
  id,
}: ChannelOwner): DataQuery<NotificationEvents | null> =>
  kind === "site"
    ? extraQuery("showNotificationEvents", { id })
    : extraQuery("showServerNotificationEvents", { id });

/** The channels of the account; null for a service that does not list them. */
export const channelsQuery = () =>
  fetchAllPages<NotificationChannel, null>((page) =>
    extraQuery("listNotificationChannels", {}, largePageQuery(page)),
  );

/** Adds a new message to the cached list. */
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
