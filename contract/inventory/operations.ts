// The operations of the inventory file, one row each. All are extras, and need a token for all servers.
import { operation } from "../operation.ts";
import { changedInventory, inventory, inventoryTest } from "./inventory.ts";

const common = { tag: "inventory", reach: "every server" } as const;
const creates = { ...common, method: "POST", responses: { 201: changedInventory } } as const;
const updates = { ...common, method: "PUT", responses: { 200: changedInventory } } as const;
const deletes = { ...common, method: "DELETE", responses: { 200: changedInventory } } as const;
const tests = { ...common, method: "POST", responses: { 200: inventoryTest } } as const;

export const inventoryOperations = {
  showInventory: operation({
    ...common,
    method: "GET",
    path: "/api/inventory",
    responses: { 200: inventory },
    ability: "*",
  }),
  createServerEntry: operation({ ...creates, path: "/api/inventory/servers" }),
  updateServerEntry: operation({ ...updates, path: "/api/inventory/servers/{id}" }),
  deleteServerEntry: operation({ ...deletes, path: "/api/inventory/servers/{id}" }),
  testServerEntry: operation({ ...tests, path: "/api/inventory/servers/test" }),
  createSiteEntry: operation({ ...creates, path: "/api/inventory/sites" }),
  updateSiteEntry: operation({ ...updates, path: "/api/inventory/sites/{id}" }),
  deleteSiteEntry: operation({ ...deletes, path: "/api/inventory/sites/{id}" }),
  createDatabaseEntry: operation({ ...creates, path: "/api/inventory/databases" }),
  updateDatabaseEntry: operation({ ...updates, path: "/api/inventory/databases/{id}" }),
  deleteDatabaseEntry: operation({ ...deletes, path: "/api/inventory/databases/{id}" }),
  testDatabaseEntry: operation({ ...tests, path: "/api/inventory/databases/test" }),
  createStorageEntry: operation({ ...creates, path: "/api/inventory/storage-providers" }),
  updateStorageEntry: operation({ ...updates, path: "/api/inventory/storage-providers/{id}" }),
  deleteStorageEntry: operation({ ...deletes, path: "/api/inventory/storage-providers/{id}" }),
  testStorageEntry: operation({ ...tests, path: "/api/inventory/storage-providers/test" }),
  createChannelEntry: operation({ ...creates, path: "/api/inventory/notification-channels" }),
  updateChannelEntry: operation({ ...updates, path: "/api/inventory/notification-channels/{id}" }),
  deleteChannelEntry: operation({ ...deletes, path: "/api/inventory/notification-channels/{id}" }),
  testChannelEntry: operation({ ...tests, path: "/api/inventory/notification-channels/test" }),
};
