// What the notifications' page asks the service. A set that is saved whole has to be read whole: all pages.
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

/** Who uses channels: a site, or a server for what belongs to none of its sites. */
export type ChannelOwner = { kind: "site" | "server"; id: number };

/** The channels that a site uses. */
export const notificationsQuery = (siteId: number) =>
  fetchAllPages<Notification>((page) =>
    query("listNotifications", { id: siteId }, largePageQuery(page)),
  );

/** The channels that a server uses; null from a service that knows none of its own. */
export const serverNotificationsQuery = (serverId: number) =>
  fetchAllPages<Notification, null>((page) =>
    extraQuery("listServerNotifications", { id: serverId }, largePageQuery(page)),
  );

/** Which events each of an owner's channels gets; null from a service where all get all. */
export const notificationEventsQuery = ({
  kind,
  id,
}: ChannelOwner): DataQuery<NotificationEvents | null> =>
  kind === "site"
    ? extraQuery("showNotificationEvents", { id })
    : extraQuery("showServerNotificationEvents", { id });

/** The channels of the account; null from a service that does not list them. */
export const channelsQuery = () =>
  fetchAllPages<NotificationChannel, null>((page) =>
    extraQuery("listNotificationChannels", {}, largePageQuery(page)),
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
