import { servedOperations } from "../../contract/served-operations.ts";
import { reply, route, type Route } from "../http/route.ts";
import { createServerFinder } from "../inventory/finders.ts";
import type { InventoryStore, ServerRow } from "../inventory/store.ts";
import type { DiscoveryService } from "./service.ts";

export function discoveryRoutes(discovery: DiscoveryService, inventory: InventoryStore): Route[] {
  const ofServer = {
    find: createServerFinder(inventory),
    runsOn: ({ id }: ServerRow) => id,
  };
  return [
    route(servedOperations.discoverServer, {
      ...ofServer,
      handle: async ({ found }) => reply(200, await discovery.discover(found)),
    }),
    route(servedOperations.findDatabases, {
      ...ofServer,
      handle: async ({ found, body }) => reply(200, await discovery.findDatabases(found, body)),
    }),
    route(servedOperations.takeOverProgram, {
      ...ofServer,
      async handle({ found, body }) {
        const worker = await discovery.takeOver(found, body);
        return reply(202, worker, `/api/worker/${worker.id}`);
      },
    }),
  ];
}
