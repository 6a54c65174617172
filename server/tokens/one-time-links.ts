// One-time links: a code in a URL that replaces the token at one path, once, for a short time. A token must not be in a URL, because
// browsers and proxies store URLs.
import type { Clock } from "../clock.ts";
import type { RedeemCode } from "../http/authentication.ts";
import type { Database } from "../store/database.ts";
import { and, eq, lt } from "../store/drizzle.ts";
import { oneTimeLinks } from "../store/tables/tokens.ts";
import { hashSecret, makeCode } from "./secret.ts";
import type { TokenService } from "./service.ts";

type OneTimeLinksOptions = { db: Database; tokens: TokenService; clock: Clock };

export function createOneTimeLinks({ db, tokens, clock }: OneTimeLinksOptions) {
  const redeem: RedeemCode = async (code, path, isUsed) => {
    const isMeant = and(eq(oneTimeLinks.hash, hashSecret(code)), eq(oneTimeLinks.path, path));
    // One statement, so that of two simultaneous requests, even to two instances, only one gets the link.
    const [link] = isUsed
      ? await db.delete(oneTimeLinks).where(isMeant).returning()
      : await db.select().from(oneTimeLinks).where(isMeant);
    return link !== undefined && link.expires_at.getTime() > clock.now()
      ? tokens.callerOf(link.token_id)
      : null;
  };

  return {
    redeem,

    /**
     * Creates a link.
     * @param path the only path at which the code works, e.g. `/api/backup/7/file`
     * @returns the code, of which only the hash is stored, and when it expires
     * @throws `unauthenticated` where the token was revoked meanwhile
     */
    async create(path: string, tokenId: number, seconds: number) {
      const now = clock.now();
      // Outside the transaction below, because a revocation locks the token before its links.
      await db.delete(oneTimeLinks).where(lt(oneTimeLinks.expires_at, new Date(now)));
      const code = makeCode();
      const expiresAt = new Date(now + seconds * 1000);
      const link = { hash: hashSecret(code), path, token_id: tokenId, expires_at: expiresAt };
      await db.transaction(async (tx) => {
        await tokens.hold(tx, tokenId);
        await tx.insert(oneTimeLinks).values(link);
      });
      return { code, expiresAt };
    },
  };
}

export type OneTimeLinks = ReturnType<typeof createOneTimeLinks>;
