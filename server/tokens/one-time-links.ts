// One-time links: a code in a URL that replaces the token at one path, once, for a short time. A token must not be in a URL, because
// browsers and proxies store URLs. Whoever used the code may continue what it began by a proof, which is in no URL.
import type { Clock } from "../clock.ts";
import type { RedeemCode } from "../http/authentication.ts";
import type { Database } from "../store/database.ts";
import { and, eq, gt, lt } from "../store/drizzle.ts";
import { oneTimeLinks } from "../store/tables/tokens.ts";
import { hashSecret, makeCode } from "./secret.ts";
import type { TokenService } from "./service.ts";

/** How long a use may be continued. A download of 200 GB at 20 Mbit/s takes 22 hours. */
const continuedMs = 24 * 3600 * 1000;

const usedHash = (code: string, proof: string): string => hashSecret(`${code}.${proof}`);

type OneTimeLinksOptions = { db: Database; tokens: TokenService; clock: Clock };

export function createOneTimeLinks({ db, tokens, clock }: OneTimeLinksOptions) {
  const redeem: RedeemCode = async (code, path, { isUsed, proof }) => {
    // A code has no period, so that a used link's hash is that of no code.
    if (!/^\w+$/.test(code)) return null;
    const now = clock.now();
    const isMeant = and(
      eq(oneTimeLinks.hash, proof === null ? hashSecret(code) : usedHash(code, proof)),
      eq(oneTimeLinks.path, path),
      gt(oneTimeLinks.expires_at, new Date(now)),
    );
    const as = async (link: { token_id: number } | undefined, proven: string | null) => {
      const caller = link === undefined ? null : await tokens.callerOf(link.token_id);
      return caller === null ? null : { caller, proof: proven };
    };
    if (proof !== null || !isUsed)
      return as((await db.select().from(oneTimeLinks).where(isMeant))[0], proof);
    const made = makeCode();
    const used = { hash: usedHash(code, made), expires_at: new Date(now + continuedMs) };
    // One statement, so that of two simultaneous requests, even to two instances, only one gets the link.
    return as((await db.update(oneTimeLinks).set(used).where(isMeant).returning())[0], made);
  };

  return {
    redeem,

    /** Ends the links to a path, so that what they began is not continued. */
    async end(path: string): Promise<void> {
      await db.delete(oneTimeLinks).where(eq(oneTimeLinks.path, path));
    },

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
