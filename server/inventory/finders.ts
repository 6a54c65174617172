// Finds an object by its id, if the caller may see it: the `find` of many routes.
import type { Caller } from "../http/route.ts";
import type { DatabaseRow, InventoryStore, ServerRow, SiteRow } from "./store.ts";

type ById = { id: number };

export const createServerFinder =
  (inventory: InventoryStore) =>
  async ({ id }: ById, caller: Caller): Promise<ServerRow | null> =>
    caller.reaches(id) ? inventory.findServer(id) : null;

export const createSiteFinder =
  (inventory: InventoryStore) =>
  async ({ id }: ById, caller: Caller): Promise<SiteRow | null> => {
    const site = await inventory.findSite(id);
    return site !== null && caller.reaches(site.serverId) ? site : null;
  };

export const createDatabaseFinder =
  (inventory: InventoryStore) =>
  async ({ id }: ById, caller: Caller): Promise<DatabaseRow | null> => {
    const database = await inventory.findDatabase(id);
    return database !== null && caller.reaches(database.serverId) ? database : null;
  };
