import { servedOperations } from "../../contract/served-operations.ts";
import { nothingToFind, reply, route, type Route } from "../http/route.ts";
import type { SearchService } from "./service.ts";

export const searchRoutes = (search: SearchService): Route[] => [
  route(servedOperations.search, {
    find: nothingToFind,
    handle: async ({ query, caller }) =>
      reply(
        200,
        await search.search(query.q ?? "", {
          visible: caller.serverIds,
          // The same condition as for the list of tokens.
          canListTokens: caller.canChange && caller.serverIds === null,
        }),
      ),
  }),
];
