// What the account owns over HTTP: servers, sites, databases, places for copies. They are read only here; the inventory file is where they change.
import { operations } from "../../contract/operations.ts";
import { readPage, toPage } from "../../contract/paging.ts";
import type { Database, Server, Site, StorageProvider } from "../../contract/servers.ts";
import { accountName } from "../hosts/account.ts";
import type { Host } from "../hosts/host.ts";
import { nothingToFind, reply, route, type Caller, type Route } from "../http/route.ts";
import type { EntryAccount } from "../inventory/accounts.ts";
import type {
  DatabaseRow,
  InventoryStore,
  ServerRow,
  SiteRow,
  StorageProviderEntry,
} from "../inventory/store.ts";

export function serverRoutes(inventory: InventoryStore, host: Host): Route[] {
  const findServer = async ({ id }: { id: number }, caller: Caller) =>
    caller.reaches(id) ? inventory.findServer(id) : null;
  // Every server is this machine until others can be reached.
  const toServer = (row: ServerRow): Server => ({
    id: row.id,
    name: row.name,
    time_zone: row.timeZone,
    memory: host.memoryMb,
  });

  return [
    route(operations.listServers, {
      find: nothingToFind,
      handle: async ({ query, url, caller }) => {
        const page = readPage(query);
        const { rows, total } = await inventory.listServers(page, caller.reaches);
        return reply(200, toPage(rows.map(toServer), total, page, url));
      },
    }),
    route(operations.showServer, {
      find: findServer,
      handle: async ({ found }) => reply(200, toServer(found)),
    }),
    route(operations.listSites, {
      find: findServer,
      handle: async ({ found, query, url }) => {
        const page = readPage(query);
        const { rows, total } = await inventory.listSites(found.id, page);
        return reply(200, toPage(rows.map(toSite), total, page, url));
      },
    }),
    route(operations.showSite, {
      find: async ({ id }, caller) => {
        const site = await inventory.findSite(id);
        return site !== null && caller.reaches(site.serverId) ? site : null;
      },
      handle: async ({ found }) => reply(200, toSite(found)),
    }),
    route(operations.listDatabases, {
      find: findServer,
      handle: async ({ found, query, url }) => {
        const page = readPage(query);
        const { rows, total } = await inventory.listDatabases(found.id, page);
        return reply(200, toPage(rows.map(toDatabase), total, page, url));
      },
    }),
    route(operations.listStorageProviders, {
      find: nothingToFind,
      handle: async ({ query, url }) => {
        const page = readPage(query);
        const { rows, total } = await inventory.listStorageProviders(page);
        return reply(200, toPage(rows.map(toStorageProvider), total, page, url));
      },
    }),
  ];
}

const toSite = (row: SiteRow): Site => ({
  id: row.id,
  server_id: row.serverId,
  name: row.name,
  root: row.root,
  artisan: [...row.artisan],
  ...toAccount(row.account),
});

const toDatabase = ({ id, serverId, entry, account }: DatabaseRow): Database => ({
  id,
  server_id: serverId,
  name: entry.name,
  engine: entry.engine,
  ...(entry.engine === "sqlite" ? toAccount(account) : {}),
});

const toAccount = ({ account, problem }: EntryAccount) => ({
  account: account === null ? null : accountName(account),
  account_problem: problem,
});

const toStorageProvider = (entry: StorageProviderEntry): StorageProvider => ({
  id: entry.id,
  name: entry.name,
  type: entry.type,
  place: entry.type === "local" ? entry.path : `bucket ${entry.bucket}`,
});
