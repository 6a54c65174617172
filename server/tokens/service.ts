// Creates, checks and revokes tokens.
import { timingSafeEqual } from "node:crypto";
import type { ListRequest } from "../store/filtered-rows.ts";
import type { CreateTokenBody } from "../../contract/bodies.ts";
import { toTimestamp } from "../../contract/values.ts";
import type { Clock } from "../clock.ts";
import type { FindCaller } from "../http/authentication.ts";
import type { Connection } from "../store/database.ts";
import type { Caller } from "../http/route.ts";
import { InvalidFields, RefusedToken } from "../http/service-error.ts";
import { hashSecret, makeSecret, splitToken } from "./secret.ts";
import type { TokenRow, TokenStore } from "./store.ts";

/** Precision of "last used". A finer one would cost a write for more requests. */
const lastUsedStepMs = 60_000;

/** How long a checked token is trusted without a query. Revoking it on this instance takes effect at once. */
const trustMs = 5_000;
/** Limits the memory for trusted tokens. */
const maxKept = 1000;

/** Minimum length of a token that the operator chooses. */
export const shortestChosenToken = 32;

export function createTokenService(store: TokenStore, clock: Clock) {
  const isExpired = ({ expires_at: expiry }: TokenRow): boolean =>
    expiry !== null && expiry.getTime() <= clock.now();

  const isMeant = (row: TokenRow | null, secret: string): row is TokenRow =>
    row !== null && timingSafeEqual(Buffer.from(row.hash), Buffer.from(hashSecret(secret)));

  const lookUp = async (token: string): Promise<TokenRow | null> => {
    const { id, secret } = splitToken(token);
    const row = id === null ? null : await store.byId(id);
    if (isMeant(row, secret)) return row;
    // A token that the operator chose may contain a bar as well, so a token that matches no id is looked up by its whole text.
    const chosen = await store.byHash(hashSecret(token));
    return isMeant(chosen, token) ? chosen : null;
  };

  /** Keyed by the hash of the token, so that no token is kept in memory. */
  const trusted = new Map<string, { caller: Caller; untilMs: number }>();
  /** Counts revocations, so that a query that began before one does not make the token trusted again. */
  let revocations = 0;

  const findCaller: FindCaller = async (token) => {
    const key = hashSecret(token);
    const now = clock.now();
    const known = trusted.get(key);
    // After the clock was set back, `untilMs` may be far ahead.
    if (known !== undefined && now < known.untilMs && known.untilMs - now <= trustMs)
      return known.caller;
    trusted.delete(key);
    const before = revocations;
    const row = await lookUp(token);
    if (row === null) return "token_unknown";
    if (isExpired(row)) return "token_expired";
    if (row.last_used_at === null || now - row.last_used_at.getTime() > lastUsedStepMs)
      await store.touch(row.id, new Date(now));
    const caller = toCaller(row);
    if (trusted.size >= maxKept) trusted.clear();
    const untilMs = Math.min(now + trustMs, row.expires_at?.getTime() ?? Infinity);
    if (before === revocations) trusted.set(key, { caller, untilMs });
    return caller;
  };

  /**
   * Locks a token, so that it is not revoked before the transaction ends.
   * @throws `unauthenticated` where it is revoked
   */
  async function hold(tx: Connection, id: number): Promise<TokenRow> {
    const row = await store.hold(tx, id);
    if (row === null) throw new RefusedToken("token_unknown");
    return row;
  }

  return {
    findCaller,

    /** @returns the caller of a token that another instance has checked; null where it is revoked or expired */
    async callerOf(id: number): Promise<Caller | null> {
      const row = await store.byId(id);
      return row !== null && !isExpired(row) ? toCaller(row) : null;
    },

    hold,

    list: (page: ListRequest) => store.list(page),

    /**
     * @returns the token of a request
     * @throws `unauthenticated` where it was revoked meanwhile, for example by another instance
     */
    async current(id: number): Promise<TokenRow> {
      const row = await store.byId(id);
      if (row === null) throw new RefusedToken("token_unknown");
      return row;
    },

    /** Finds a token; a caller that is limited to servers finds only its own. */
    findFor: async (id: number, { serverIds, tokenId }: Caller): Promise<TokenRow | null> =>
      serverIds === null || tokenId === id ? store.byId(id) : null,

    async revoke(id: number): Promise<void> {
      await store.remove(id);
      revocations += 1;
      trusted.clear();
    },

    /**
     * Creates a token. Only the result contains its text.
     * @param makerId id of the token that creates it, and which the new one must not outlive
     * @throws InvalidFields where it would, `unauthenticated` where the creating token was revoked meanwhile
     */
    create: (body: CreateTokenBody, makerId: number): Promise<{ row: TokenRow; token: string }> =>
      store.transaction(async (tx) => {
        const maker = await hold(tx, makerId);
        const secret = makeSecret();
        const row = await store.insert(tx, {
          name: body.name,
          hash: hashSecret(secret),
          abilities: body.abilities,
          server_ids: body.server_ids ?? null,
          expires_at: expiryOf(body, maker, clock.now()),
        });
        return { row, token: `${row.id}|${secret}` };
      }),

    /** Creates, replaces or removes the operator's token to match the environment. */
    async prepare(chosen: string | null): Promise<void> {
      if (chosen === null) await store.removeFromEnvironment();
      else
        await store.replaceFromEnvironment({
          name: "QUARTERDECK_TOKEN",
          hash: hashSecret(chosen),
          abilities: ["*"],
        });
    },
  };
}

/**
 * Returns the expiry of a new token: by default, that of the token that creates it.
 * @throws InvalidFields for one that has passed or is later, or for none where the creating token expires
 */
function expiryOf(
  { expires_at: asked }: CreateTokenBody,
  maker: TokenRow,
  nowMs: number,
): Date | null {
  const latest = maker.expires_at;
  if (asked === undefined) return latest;
  const expiry = asked === null ? null : new Date(asked);
  if (latest !== null && (expiry === null || expiry > latest))
    throw new InvalidFields({
      expires_at: [
        `The token must expire by ${toTimestamp(latest)}, when the token that creates it expires.`,
      ],
    });
  if (expiry !== null && expiry.getTime() <= nowMs)
    throw new InvalidFields({ expires_at: ["The expires at field must be in the future."] });
  return expiry;
}

export type TokenService = ReturnType<typeof createTokenService>;

function toCaller(row: TokenRow): Caller {
  const reachable = row.server_ids;
  return {
    tokenId: row.id,
    name: row.name,
    canChange: row.abilities.includes("*"),
    serverIds: reachable,
    reaches: (serverId) => reachable === null || reachable.includes(serverId),
  };
}
