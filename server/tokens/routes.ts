// The tokens' operations over HTTP.
import { operations } from "../../contract/operations.ts";
import { readPage, toPage } from "../../contract/paging.ts";
import type { Token } from "../../contract/tokens.ts";
import { toTimestamp } from "../../contract/values.ts";
import { nothingToFind, reply, route, type Route } from "../http/route.ts";
import type { TokenService } from "./service.ts";
import type { TokenRow } from "./store.ts";

export const tokenRoutes = (tokens: TokenService): Route[] => [
  route(operations.listTokens, {
    find: nothingToFind,
    answer: async ({ query, url }) => {
      const page = readPage(query);
      const { rows, total } = await tokens.list(page);
      return reply(200, toPage(rows.map(toToken), total, page, url));
    },
  }),
  route(operations.createToken, {
    find: nothingToFind,
    answer: async ({ body }) => {
      const { row, token } = await tokens.create(body);
      return reply(201, { ...toToken(row), token });
    },
  }),
  route(operations.deleteToken, {
    find: ({ id }) => tokens.find(id),
    answer: async ({ found }) => {
      await tokens.revoke(found.id);
      return reply(204);
    },
  }),
];

const toMoment = (date: Date | null) => (date === null ? null : toTimestamp(date));

const toToken = (row: TokenRow): Token => ({
  id: row.id,
  name: row.name,
  abilities: row.abilities,
  server_ids: row.server_ids,
  expires_at: toMoment(row.expires_at),
  last_used_at: toMoment(row.last_used_at),
  created_at: toTimestamp(row.created_at),
});
