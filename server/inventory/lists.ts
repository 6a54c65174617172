// Lists of the inventory's entries: by id, or searched and sorted.
import { namedFilters } from "../http/list-filters.ts";
import type { Database } from "../store/database.ts";
import { eq, inArray, type SQL, sql } from "../store/drizzle.ts";
import { createFilteredRows, type ListRequest } from "../store/filtered-rows.ts";
import {
  databases,
  notificationChannels,
  servers,
  sites,
  storageProviders,
} from "../store/tables/inventory.ts";
import { toDatabase, toServer, toSite } from "./rows.ts";

export type InventoryTable =
  | typeof servers
  | typeof sites
  | typeof databases
  | typeof storageProviders
  | typeof notificationChannels;

export function createInventoryLists(db: Database) {
  function createList<Table extends InventoryTable, Entry>(
    table: Table,
    toEntry: (row: Table["$inferSelect"]) => Entry,
    search: readonly SQL[] = [],
  ) {
    const read = createFilteredRows(db, table, namedFilters, {
      id: table.id,
      isNewestFirst: false,
      search: [table.name, ...search],
      status: null,
      sorts: { name: sql`lower(${table.name})` },
    });
    return async (scope: SQL | undefined, page: ListRequest) => {
      const { rows, ...counted } = await read(scope, page);
      return { rows: rows.map(toEntry), ...counted };
    };
  }

  const listServers = createList(servers, toServer);
  const listSites = createList(sites, toSite, [sql`${sites.entry} ->> 'root'`]);
  const listDatabases = createList(databases, toDatabase, [sql`${databases.entry} ->> 'engine'`]);
  const listStorageProviders = createList(storageProviders, ({ entry }) => entry);
  const listNotificationChannels = createList(notificationChannels, ({ entry }) => entry);

  return {
    /** @param reachable ids of the servers that the caller may see; null = all */
    listServers: (page: ListRequest, reachable: readonly number[] | null) =>
      listServers(reachable === null ? undefined : inArray(servers.id, [...reachable]), page),
    listSites: (serverId: number, page: ListRequest) =>
      listSites(eq(sites.server_id, serverId), page),
    listDatabases: (serverId: number, page: ListRequest) =>
      listDatabases(eq(databases.server_id, serverId), page),
    listStorageProviders: (page: ListRequest) => listStorageProviders(undefined, page),
    listNotificationChannels: (page: ListRequest) => listNotificationChannels(undefined, page),
  };
}
