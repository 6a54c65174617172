import type { ChannelMessage, Notification } from "../../contract/notifications/notification.ts";
import { servedOperations } from "../../contract/served-operations.ts";
import { itemsOn, type PageRequest, readPage, toPage } from "../../contract/paging.ts";
import { toTimestamp, toTimestampOrNull } from "../../contract/values.ts";
import { listFilters } from "../http/list-filters.ts";
import {
  filteredListRoute,
  nothingToFind,
  reply,
  route,
  type Caller,
  type Route,
} from "../http/route.ts";
import { createServerFinder, createSiteFinder } from "../inventory/finders.ts";
import type { InventoryStore, NotificationChannelEntry } from "../inventory/store.ts";
import type { EventChoices } from "./event-choices.ts";
import type { MessageRow } from "./message-store.ts";
import type { NamedOwner, NotificationService } from "./notification-service.ts";
import type { DescribeChannel } from "./open-channel.ts";

type NotificationRoutesOptions = {
  service: NotificationService;
  choices: EventChoices;
  inventory: InventoryStore;
  describe: DescribeChannel;
};

export function notificationRoutes({
  service,
  choices,
  inventory,
  describe,
}: NotificationRoutesOptions): Route[] {
  const findSite = createSiteFinder(inventory);
  const findServer = createServerFinder(inventory);
  const toNotification = async (entry: NotificationChannelEntry): Promise<Notification> => ({
    id: entry.id,
    name: entry.name,
    type: entry.type,
    meta: (await describe(entry)).meta,
  });
  const findSiteOwner = async (
    params: { id: number },
    caller: Caller,
  ): Promise<NamedOwner | null> => {
    const site = await findSite(params, caller);
    return site && { kind: "site", id: site.id, name: site.name, serverId: site.serverId };
  };
  const findServerOwner = async (
    params: { id: number },
    caller: Caller,
  ): Promise<NamedOwner | null> => {
    const server = await findServer(params, caller);
    return server && { kind: "server", id: server.id, name: server.name, serverId: server.id };
  };
  const pageOf = async (owner: NamedOwner, page: PageRequest, url: string) => {
    const entries = await service.channelsOf(owner);
    const shown = itemsOn(entries, page);
    return toPage(await Promise.all(shown.map(toNotification)), entries.length, page, url);
  };

  return [
    route(servedOperations.listNotifications, {
      find: findSiteOwner,
      handle: async ({ found: site, query, url }) =>
        reply(200, await pageOf(site, readPage(query), url)),
    }),
    route(servedOperations.updateNotifications, {
      find: findSiteOwner,
      handle: async ({ found: site, body, url }) => {
        await service.choose(site, body.channels);
        return reply(200, await pageOf(site, readPage({}), url));
      },
    }),
    route(servedOperations.showNotificationEvents, {
      find: findSiteOwner,
      handle: async ({ found: site }) => reply(200, await choices.show(site)),
    }),
    route(servedOperations.updateNotificationEvents, {
      find: findSiteOwner,
      check: ({ found: site, fields }) => choices.check(site, fields.channels),
      handle: async ({ found: site, body }) => reply(200, await choices.replace(site, body)),
    }),
    route(servedOperations.listServerNotifications, {
      find: findServerOwner,
      handle: async ({ found: server, query, url }) =>
        reply(200, await pageOf(server, readPage(query), url)),
    }),
    route(servedOperations.updateServerNotifications, {
      find: findServerOwner,
      handle: async ({ found: server, body, url }) => {
        await service.choose(server, body.channels);
        return reply(200, await pageOf(server, readPage({}), url));
      },
    }),
    route(servedOperations.showServerNotificationEvents, {
      find: findServerOwner,
      handle: async ({ found: server }) => reply(200, await choices.show(server)),
    }),
    route(servedOperations.updateServerNotificationEvents, {
      find: findServerOwner,
      check: ({ found: server, fields }) => choices.check(server, fields.channels),
      handle: async ({ found: server, body }) => reply(200, await choices.replace(server, body)),
    }),
    filteredListRoute(servedOperations.listNotificationChannels, {
      find: nothingToFind,
      filters: listFilters.listNotificationChannels,
      list: async (page, { caller }) => {
        // All channels, for every token: sites and servers choose from them.
        const { rows, ...counted } = await inventory.listNotificationChannels(page);
        const ids = rows.map(({ id }) => id);
        const newest = await service.newestOf(ids, caller.serverIds);
        const items = await Promise.all(
          rows.map(async (entry) => {
            const { meta, trouble } = await describe(entry);
            const last = newest.find(({ channel_id }) => channel_id === entry.id);
            return {
              id: entry.id,
              name: entry.name,
              type: entry.type,
              meta,
              trouble,
              last_message: last === undefined ? null : toMessage(last),
            };
          }),
        );
        return { items, ...counted };
      },
    }),
    route(servedOperations.testNotificationChannel, {
      find: ({ id }) => inventory.findNotificationChannel(id),
      handle: async ({ found: channel, caller }) =>
        reply(202, toMessage(await service.test(channel, caller.serverIds))),
    }),
  ];
}

const toMessage = (row: MessageRow): ChannelMessage => ({
  id: row.id,
  channel_id: row.channel_id,
  event: row.event,
  title: row.title,
  count: row.count,
  status: row.status,
  answer: row.answer,
  attempts: row.attempts,
  next_attempt_at: toTimestampOrNull(row.next_attempt_at),
  created_at: toTimestamp(row.created_at),
  ended_at: toTimestampOrNull(row.ended_at),
});
