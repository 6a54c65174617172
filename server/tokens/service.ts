// Tokens: how they are made, checked and revoked.
import { timingSafeEqual } from "node:crypto";
import type { z } from "zod/mini";
import type { PageRequest } from "../../contract/paging.ts";
import type { createTokenBody } from "../../contract/tokens.ts";
import type { Clock } from "../clock.ts";
import type { FindCaller } from "../http/authentication.ts";
import type { Caller } from "../http/route.ts";
import { hashSecret, makeSecret, splitToken } from "./secret.ts";
import type { TokenRow, TokenStore } from "./store.ts";

/** How exact "last used" is; each finer step would cost every request a write. */
const lastUsedStepMs = 60_000;

/** The least length of a token that the operator chose. */
export const shortestChosenToken = 32;

export function createTokenService(store: TokenStore, clock: Clock) {
  const isUsable = (row: TokenRow | null, secret: string): row is TokenRow =>
    row !== null &&
    timingSafeEqual(Buffer.from(row.hash), Buffer.from(hashSecret(secret))) &&
    (row.expires_at === null || row.expires_at.getTime() > clock.now());

  const findCaller: FindCaller = async (token) => {
    const { id, secret } = splitToken(token);
    let row = id === null ? null : await store.byId(id);
    if (!isUsable(row, secret)) {
      // A chosen token may hold a bar too, so what does not fit by id is tried whole.
      row = await store.byHash(hashSecret(token));
      if (!isUsable(row, token)) return null;
    }
    const now = clock.now();
    if (row.last_used_at === null || now - row.last_used_at.getTime() > lastUsedStepMs)
      await store.touch(row.id, new Date(now));
    return toCaller(row);
  };

  return {
    findCaller,
    list: (page: PageRequest) => store.list(page),
    find: (id: number) => store.byId(id),
    revoke: (id: number) => store.remove(id),

    /** Makes a token. The answer is the only place where its text ever stands. */
    async create(body: z.infer<typeof createTokenBody>): Promise<{ row: TokenRow; token: string }> {
      const secret = makeSecret();
      const row = await store.insert({
        name: body.name,
        hash: hashSecret(secret),
        abilities: body.abilities,
        server_ids: body.server_ids ?? null,
        expires_at: body.expires_at ? new Date(body.expires_at) : null,
      });
      return { row, token: `${row.id}|${secret}` };
    },

    /**
     * Sees to it that somebody can get in: the operator's own token, or a first one.
     * @returns the text of a first token that was made now, else null
     */
    async prepare(chosen: string | null): Promise<string | null> {
      if (chosen === null) await store.removeFromEnvironment();
      else
        await store.replaceFromEnvironment({
          name: "QUARTERDECK_TOKEN",
          hash: hashSecret(chosen),
          abilities: ["*"],
        });
      if (!(await store.isEmpty())) return null;
      const { token } = await this.create({ name: "First token", abilities: ["*"] });
      return token;
    },
  };
}

export type TokenService = ReturnType<typeof createTokenService>;

function toCaller(row: TokenRow): Caller {
  const reachable = row.server_ids;
  return {
    tokenId: row.id,
    name: row.name,
    canChange: row.abilities.includes("*"),
    reaches: (serverId) => reachable === null || reachable.includes(serverId),
  };
}
