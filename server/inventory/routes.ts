// The inventory file over HTTP: its content, changes of entries, and tests of entries that are not in it yet.
import { inventoryKinds, type InventoryKind } from "../../contract/inventory/entries.ts";
import { servedOperations as operations } from "../../contract/served-operations.ts";
import { nothingToFind, reply, route, type Caller, type Route } from "../http/route.ts";
import type { ChangeService } from "./change-service.ts";
import type { Change } from "./entry.ts";
import type { EntryTrials } from "./try-entries.ts";

export function inventoryRoutes(changes: ChangeService, trials: EntryTrials): Route[] {
  const change = async (wanted: Change, version: string | undefined) => {
    const id = await changes.change(wanted, version);
    return { id, ...(await changes.show()) };
  };

  /** A token that is limited to servers is refused for any id, so that it learns nothing about entries. */
  const finderOf =
    (kind: InventoryKind) =>
    async ({ id }: { id: number }, caller: Caller) =>
      caller.serverIds !== null || (await changes.has(kind, id)) ? { id } : null;

  const rows = {
    servers: [
      operations.createServerEntry,
      operations.updateServerEntry,
      operations.deleteServerEntry,
    ],
    sites: [operations.createSiteEntry, operations.updateSiteEntry, operations.deleteSiteEntry],
    databases: [
      operations.createDatabaseEntry,
      operations.updateDatabaseEntry,
      operations.deleteDatabaseEntry,
    ],
    storage_providers: [
      operations.createStorageEntry,
      operations.updateStorageEntry,
      operations.deleteStorageEntry,
    ],
    notification_channels: [
      operations.createChannelEntry,
      operations.updateChannelEntry,
      operations.deleteChannelEntry,
    ],
  } as const;

  const routesOf = (kind: InventoryKind): Route[] => {
    const [creates, updates, deletes] = rows[kind];
    const find = finderOf(kind);
    return [
      route(creates, {
        find: nothingToFind,
        handle: async ({ query, body }) =>
          reply(201, await change({ kind, action: "add", entry: body }, query.version)),
      }),
      route(updates, {
        find,
        handle: async ({ query, body, found: { id } }) =>
          reply(200, await change({ kind, action: "replace", id, entry: body }, query.version)),
      }),
      route(deletes, {
        find,
        handle: async ({ query, found: { id } }) =>
          reply(200, await change({ kind, action: "remove", id }, query.version)),
      }),
    ];
  };

  return [
    route(operations.showInventory, {
      find: nothingToFind,
      handle: async () => reply(200, await changes.show()),
    }),
    // Before the routes with an id in the same position.
    route(operations.testServerEntry, {
      find: nothingToFind,
      handle: async ({ body, signal }) => reply(200, await trials.server(body, signal)),
    }),
    route(operations.testDatabaseEntry, {
      find: nothingToFind,
      handle: async ({ body, signal }) => reply(200, await trials.database(body, signal)),
    }),
    route(operations.testStorageEntry, {
      find: nothingToFind,
      handle: async ({ body, signal }) => reply(200, await trials.storage(body, signal)),
    }),
    route(operations.testChannelEntry, {
      find: nothingToFind,
      handle: async ({ body, signal }) => reply(200, await trials.channel(body, signal)),
    }),
    ...inventoryKinds.flatMap(routesOf),
  ];
}
