// The overview over HTTP.
import { operations } from "../../contract/operations.ts";
import { nothingToFind, reply, route, type Route } from "../http/route.ts";
import type { OverviewService } from "./service.ts";

export const overviewRoutes = (overview: OverviewService): Route[] => [
  route(operations.showOverview, {
    find: nothingToFind,
    handle: async ({ caller }) => reply(200, await overview.show(caller.serverIds)),
  }),
];
