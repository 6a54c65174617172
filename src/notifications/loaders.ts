// The loaders of the notification pages. The navigation marks the current place by `siteId` or `serverId`.
import type { LoaderFunctionArgs } from "react-router";
import { serverQuery, siteQuery } from "../app/inventory.ts";
import { idOf, load, loadIfThere, loadPlace } from "../app/routing/loading.ts";
import {
  channelsQuery,
  notificationEventsQuery,
  notificationsQuery,
  serverNotificationsQuery,
} from "./queries.ts";

export async function notificationsLoader({ params, request }: LoaderFunctionArgs) {
  const siteId = idOf(params);
  await Promise.all([
    load(request, notificationsQuery(siteId)),
    load(request, channelsQuery()),
    loadIfThere(request, notificationEventsQuery({ kind: "site", id: siteId })),
    loadIfThere(request, siteQuery(siteId)),
  ]);
  return { siteId };
}

export async function serverNotificationsLoader({ params, request }: LoaderFunctionArgs) {
  const serverId = idOf(params);
  await Promise.all([
    load(request, serverNotificationsQuery(serverId)),
    load(request, channelsQuery()),
    loadIfThere(request, notificationEventsQuery({ kind: "server", id: serverId })),
    loadPlace(request, serverQuery(serverId)),
  ]);
  return { serverId };
}
