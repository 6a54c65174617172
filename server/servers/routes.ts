// Routes of servers, sites, databases and storage providers. They only read: changes are made in the inventory file.
import { servedOperations } from "../../contract/served-operations.ts";
import type { Database, Server, Site, StorageProvider } from "../../contract/servers.ts";
import { accountName } from "../hosts/account.ts";
import type { LocalHost } from "../hosts/host.ts";
import { listFilters } from "../http/list-filters.ts";
import { filteredListRoute, nothingToFind, reply, route, type Route } from "../http/route.ts";
import { placeOfRemote } from "../storage/rclone-command.ts";
import type { Reachability } from "../ssh/reachability.ts";
import type { EntryAccount } from "../inventory/one-account.ts";
import { createServerFinder, createSiteFinder } from "../inventory/finders.ts";
import type {
  DatabaseRow,
  InventoryStore,
  ServerRow,
  SiteRow,
  StorageProviderEntry,
} from "../inventory/store.ts";

export function serverRoutes(
  inventory: InventoryStore,
  host: LocalHost,
  reachability: Reachability,
): Route[] {
  const findServer = createServerFinder(inventory);
  const toServers = async (rows: readonly ServerRow[]): Promise<Server[]> => {
    const extras = await reachability.extrasOf(rows.map(({ id }) => id));
    return rows.map((row) => ({
      id: row.id,
      name: row.name,
      time_zone: row.timeZone,
      memory: host.memoryMb,
      ...extras.get(row.id),
    }));
  };

  return [
    filteredListRoute(servedOperations.listServers, {
      find: nothingToFind,
      filters: listFilters.listServers,
      list: async (page, { caller }) => {
        const { rows, ...counted } = await inventory.listServers(page, caller.serverIds);
        return { items: await toServers(rows), ...counted };
      },
    }),
    route(servedOperations.showServer, {
      find: findServer,
      handle: async ({ found }) => {
        const [server] = await toServers([found]);
        if (server === undefined) throw new Error("A server that was found is missing.");
        return reply(200, server);
      },
    }),
    route(servedOperations.showServerStatus, {
      find: findServer,
      runsOn: ({ id }) => id,
      isKnownWithout: true,
      handle: async ({ found }) => reply(200, await reachability.status(found)),
    }),
    filteredListRoute(servedOperations.listSites, {
      find: findServer,
      filters: listFilters.listSites,
      list: async (page, { found }) => {
        const { rows, ...counted } = await inventory.listSites(found.id, page);
        return { items: rows.map(toSite), ...counted };
      },
    }),
    route(servedOperations.showSite, {
      find: createSiteFinder(inventory),
      handle: async ({ found }) => reply(200, toSite(found)),
    }),
    filteredListRoute(servedOperations.listDatabases, {
      find: findServer,
      filters: listFilters.listDatabases,
      list: async (page, { found }) => {
        const { rows, ...counted } = await inventory.listDatabases(found.id, page);
        return { items: rows.map(toDatabase), ...counted };
      },
    }),
    filteredListRoute(servedOperations.listStorageProviders, {
      find: nothingToFind,
      filters: listFilters.listStorageProviders,
      list: async (page, { caller }) => {
        const { rows, ...counted } = await inventory.listStorageProviders(page);
        const servers = new Map(
          (await inventory.allServers())
            .filter(({ id, connection }) => connection !== "local" && caller.reaches(id))
            .map(({ id, name }) => [id, name]),
        );
        return { items: rows.map((entry) => toStorageProvider(entry, servers)), ...counted };
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
  scope: entry.scope ?? "database",
  ...(entry.engine === "sqlite" ? toAccount(account) : {}),
});

const toAccount = ({ account, problem }: EntryAccount) => ({
  account: account === null ? null : accountName(account),
  account_problem: problem,
});

/** @param servers names by id of the servers over SSH that the caller may see */
const toStorageProvider = (
  entry: StorageProviderEntry,
  servers: ReadonlyMap<number, string>,
): StorageProvider => ({
  id: entry.id,
  name: entry.name,
  type: entry.type,
  place: placeOf(entry, servers),
});

function placeOf(entry: StorageProviderEntry, servers: ReadonlyMap<number, string>): string {
  if (entry.type === "s3") return `bucket ${entry.bucket}`;
  if (entry.type === "rclone") return placeOfRemote(entry.remote);
  if (entry.type === "sftp") return `${entry.path} on ${entry.ssh.host}`;
  const { path, server } = entry;
  const name = server === undefined ? undefined : servers.get(server);
  return name === undefined ? path : `${path} on ${name}`;
}
