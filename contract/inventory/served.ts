// The inventory's operations as the service serves them: with the schemas of the entries, which the dashboard's first
// bundle excludes.
import * as z from "zod/mini";
import { id } from "../values.ts";
import { fileEntries, requestEntries } from "./entries.ts";
import { inventoryConflict } from "./conflict.ts";
import { inventoryFacts } from "./inventory.ts";
import { inventoryOperations as rows } from "./operations.ts";

const names = {
  servers: "ServerEntry",
  sites: "SiteEntry",
  databases: "DatabaseEntry",
  storage_providers: "StorageProviderEntry",
  notification_channels: "NotificationChannelEntry",
} as const;
for (const [kind, name] of Object.entries(names)) {
  // The names are those of the kinds; `Object.entries` loses that type.
  const of = kind as keyof typeof names;
  z.globalRegistry.add(fileEntries[of], { id: name });
  z.globalRegistry.add(requestEntries[of], { id: `${name}Input` });
}

const entries = {
  servers: z.array(fileEntries.servers),
  sites: z.array(fileEntries.sites),
  databases: z.array(fileEntries.databases),
  storage_providers: z.array(fileEntries.storage_providers),
  notification_channels: z.array(fileEntries.notification_channels),
};
const shown = z
  .object({ ...inventoryFacts, ...entries })
  .register(z.globalRegistry, { id: "Inventory" });
const changed = z
  .object({ id, ...inventoryFacts, ...entries })
  .register(z.globalRegistry, { id: "ChangedInventory" });

/** The version of the file that the request is based on. An instance that reads no file has none. */
const query = z.object({
  version: z.optional(
    z.string().check(z.regex(/^[0-9a-f]{64}$/, { error: "This is not a valid version." })),
  ),
});
const conflict = inventoryConflict;
const [created, ok] = [{ 201: changed } as const, { 200: changed } as const];

const change = <Body extends z.ZodMiniType>(body: Body) => ({
  create: { body, query, conflict, responses: created },
  update: { body, query, conflict, responses: ok },
  delete: { query, conflict, responses: ok },
});
const servers = change(requestEntries.servers);
const sites = change(requestEntries.sites);
const databases = change(requestEntries.databases);
const storage = change(requestEntries.storage_providers);
const channels = change(requestEntries.notification_channels);

export const servedInventoryOperations = {
  showInventory: { ...rows.showInventory, responses: { 200: shown } },
  createServerEntry: { ...rows.createServerEntry, ...servers.create },
  updateServerEntry: { ...rows.updateServerEntry, ...servers.update },
  deleteServerEntry: { ...rows.deleteServerEntry, ...servers.delete },
  testServerEntry: { ...rows.testServerEntry, body: requestEntries.servers },
  createSiteEntry: { ...rows.createSiteEntry, ...sites.create },
  updateSiteEntry: { ...rows.updateSiteEntry, ...sites.update },
  deleteSiteEntry: { ...rows.deleteSiteEntry, ...sites.delete },
  createDatabaseEntry: { ...rows.createDatabaseEntry, ...databases.create },
  updateDatabaseEntry: { ...rows.updateDatabaseEntry, ...databases.update },
  deleteDatabaseEntry: { ...rows.deleteDatabaseEntry, ...databases.delete },
  testDatabaseEntry: { ...rows.testDatabaseEntry, body: requestEntries.databases },
  createStorageEntry: { ...rows.createStorageEntry, ...storage.create },
  updateStorageEntry: { ...rows.updateStorageEntry, ...storage.update },
  deleteStorageEntry: { ...rows.deleteStorageEntry, ...storage.delete },
  testStorageEntry: { ...rows.testStorageEntry, body: requestEntries.storage_providers },
  createChannelEntry: { ...rows.createChannelEntry, ...channels.create },
  updateChannelEntry: { ...rows.updateChannelEntry, ...channels.update },
  deleteChannelEntry: { ...rows.deleteChannelEntry, ...channels.delete },
  testChannelEntry: { ...rows.testChannelEntry, body: requestEntries.notification_channels },
};
