// Route of the service's description of itself.
import { subscribableEvents } from "../../contract/events.ts";
import type { Installation } from "../../contract/installation.ts";
import { servedOperations } from "../../contract/served-operations.ts";
import { nothingToFind, reply, route, type Route } from "../http/route.ts";

export const installationRoutes = (installation: Installation): Route[] => [
  route(servedOperations.showInstallation, {
    find: nothingToFind,
    handle: async () => reply(200, { ...installation, events: subscribableEvents }),
  }),
];
