// The tokens' operations over HTTP.
import { operations } from "../../contract/operations.ts";
import { readPage, toPage } from "../../contract/paging.ts";
import type { Token } from "../../contract/tokens.ts";
import { toTimestamp } from "../../contract/values.ts";
import { nothingToFind, reply, route, type Caller, type Route } from "../http/route.ts";
import { unauthorized } from "../http/service-error.ts";
import type { TokenService } from "./service.ts";
import type { TokenRow } from "./store.ts";

export const tokenRoutes = (tokens: TokenService): Route[] => [
  route(operations.listTokens, {
    find: nothingToFind,
    answer: async ({ query, url, caller }) => {
      mustReachAll(caller);
      const page = readPage(query);
      const { rows, total } = await tokens.list(page);
      return reply(
        200,
        toPage(
          rows.map((row) => toToken(row, caller)),
          total,
          page,
          url,
        ),
      );
    },
  }),
  route(operations.createToken, {
    find: nothingToFind,
    answer: async ({ body, caller }) => {
      mustReachAll(caller);
      const { row, token } = await tokens.create(body);
      return reply(201, { ...toToken(row, caller), token });
    },
  }),
  route(operations.deleteToken, {
    find: ({ id }) => tokens.find(id),
    answer: async ({ found, caller }) => {
      mustReachAll(caller);
      await tokens.revoke(found.id);
      return reply(204);
    },
  }),
];

/** A token of a few servers could make itself one of all of them, so it may not touch tokens. */
function mustReachAll({ serverIds }: Caller): void {
  if (serverIds !== null) throw unauthorized();
}

const toMoment = (date: Date | null) => (date === null ? null : toTimestamp(date));

const toToken = (row: TokenRow, caller: Caller): Token => ({
  id: row.id,
  name: row.name,
  abilities: row.abilities,
  server_ids: row.server_ids,
  expires_at: toMoment(row.expires_at),
  last_used_at: toMoment(row.last_used_at),
  created_at: toTimestamp(row.created_at),
  is_current: row.id === caller.tokenId,
  from_environment: row.from_environment,
});
