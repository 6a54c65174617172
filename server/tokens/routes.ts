import { servedOperations } from "../../contract/served-operations.ts";
import type { Token } from "../../contract/tokens.ts";
import { toTimestamp, toTimestampOrNull } from "../../contract/values.ts";
import { listFilters } from "../http/list-filters.ts";
import {
  filteredListRoute,
  nothingToFind,
  reply,
  route,
  type Caller,
  type Route,
} from "../http/route.ts";
import type { SignIn } from "./sign-in.ts";
import type { TokenService } from "./service.ts";
import type { TokenRow } from "./store.ts";

export const tokenRoutes = (tokens: TokenService, signIn: SignIn): Route[] => [
  filteredListRoute(servedOperations.listTokens, {
    find: nothingToFind,
    filters: listFilters.listTokens,
    list: async (page, { caller }) => {
      const { rows, ...counted } = await tokens.list(page);
      return { items: rows.map((row) => toToken(row, caller)), ...counted };
    },
  }),
  route(servedOperations.createToken, {
    find: nothingToFind,
    handle: async ({ body, caller }) => {
      const { row, token } = await tokens.create(body, caller.tokenId);
      return reply(201, { ...toToken(row, caller), token });
    },
  }),
  route(servedOperations.deleteToken, {
    find: ({ id }, caller) => tokens.findFor(id, caller),
    handle: async ({ found }) => {
      await tokens.revoke(found.id);
      return reply(204);
    },
  }),
  route(servedOperations.showCurrentToken, {
    find: (_params, caller) => tokens.current(caller.tokenId),
    handle: async ({ found, caller }) => reply(200, toToken(found, caller)),
  }),
  route(servedOperations.signIn, {
    find: nothingToFind,
    handle: async ({ body, caller }) => {
      const { row, token } = await signIn.exchange(body.code);
      return reply(201, { ...toToken(row, caller), is_current: true, token });
    },
  }),
];

const toToken = (row: TokenRow, caller: Caller): Token => ({
  id: row.id,
  name: row.name,
  abilities: row.abilities,
  server_ids: row.server_ids,
  expires_at: toTimestampOrNull(row.expires_at),
  last_used_at: toTimestampOrNull(row.last_used_at),
  created_at: toTimestamp(row.created_at),
  is_current: row.id === caller.tokenId,
  from_environment: row.from_environment,
});
