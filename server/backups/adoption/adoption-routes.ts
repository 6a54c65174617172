import { servedOperations } from "../../../contract/served-operations.ts";
import { reply, route, type Caller, type Route } from "../../http/route.ts";
import { notFound } from "../../http/service-error.ts";
import type { InventoryStore, StorageProviderEntry } from "../../inventory/store.ts";
import type { AdoptStorage } from "./adopt-storage.ts";

export function adoptionRoutes(inventory: InventoryStore, adoption: AdoptStorage): Route[] {
  /** A token that is narrowed to servers is refused for any id, so that it cannot find out which exist. */
  const find = async ({ id }: { id: number }, caller: Caller) => {
    const provider = await inventory.findStorageProvider(id);
    return provider === null && caller.serverIds === null ? null : { provider };
  };
  const there = ({ provider }: { provider: StorageProviderEntry | null }) => {
    if (provider === null) throw notFound();
    return provider;
  };
  return [
    route(servedOperations.showAdoption, {
      find,
      handle: async ({ found, signal }) => reply(200, await adoption.preview(there(found), signal)),
    }),
    route(servedOperations.adoptBackups, {
      find,
      handle: async ({ found, signal }) => reply(200, await adoption.adopt(there(found), signal)),
    }),
  ];
}
