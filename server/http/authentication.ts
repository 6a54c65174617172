// Who asks, and how often they may: the token of a request, and the two rate limits.
import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { errorMessage, type TokenCode } from "../../contract/errors.ts";
import { networkOf } from "./client-network.ts";
import type { Caller } from "./route.ts";
import { RefusedToken, ServiceError, unauthenticated } from "./service-error.ts";

/** Checks a token's text. @returns who asks, or why not; only who has the whole text learns that it has expired */
export type FindCaller = (token: string) => Promise<Caller | TokenCode>;

type Allowance = { limit: number; remaining: number };

/** Failed logins a minute that one address may cause; of IPv6, one network. */
const failuresPerMinute = 30;

// A token that the operator chose may hold spaces.
const bearer = /^Bearer +(\S.{0,511}?) *$/i;

export type Authenticator = {
  /**
   * @param authorization the header as it came
   * @returns who asks, and the headers that tell what is left of the limit
   * @throws ServiceError `unauthenticated`, or `too_many_requests` with the seconds to wait
   */
  authenticate(
    authorization: string | undefined,
    address: string,
  ): Promise<{ caller: Caller; headers: Record<string, string> }>;
  /**
   * Counts a failure of somebody who needs no token, together with wrong tokens.
   * @returns the headers that tell what is left of the address's limit
   * @throws ServiceError `too_many_requests`
   */
  countFailure(address: string): Promise<Record<string, string>>;
};

type AuthenticatorOptions = {
  findCaller: FindCaller;
  /** Of each token; 0 = no limit. */
  requestsPerMinute: number;
  /** Gets what a failed login may be known by: never a part of the header. */
  log: Pick<Logger, "warn">;
};

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { findCaller, requestsPerMinute, log } = options;
  const requests =
    requestsPerMinute === 0
      ? null
      : new RateLimiterMemory({ points: requestsPerMinute, duration: 60 });
  const failures = new RateLimiterMemory({ points: failuresPerMinute, duration: 60 });

  /** Only failures are held back. Were the address itself blocked, anyone behind the same proxy could
   *  lock everybody out, and a token's 32 characters are not guessed at any rate. */
  const countFailure = async (address: string, points: number): Promise<Allowance> => {
    try {
      const { remainingPoints } = await failures.consume(networkOf(address), points);
      if (points > 0) log.warn({ address }, "a login failed");
      return { limit: failuresPerMinute, remaining: remainingPoints };
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      // Once a minute: whoever goes on guessing is not to fill the disk.
      if (refused.consumedPoints === failuresPerMinute + points && points > 0)
        log.warn({ address }, "a login failed, and further ones are refused for a minute");
      throw tooMany(refused, failuresPerMinute);
    }
  };

  return {
    async authenticate(authorization, address) {
      const token = bearer.exec(authorization ?? "")?.[1];
      const caller = token === undefined ? null : await findCaller(token);
      if (caller === null || typeof caller === "string") {
        // A request without the header guesses nothing, so it does not count as a failure. Any other header does,
        // also one that no token can be read from.
        const points = authorization === undefined || authorization === "" ? 0 : 1;
        const left = allowanceHeaders(await countFailure(address, points));
        throw caller === null ? unauthenticated(left) : new RefusedToken(caller, left);
      }
      if (requests === null) return { caller, headers: {} };
      try {
        const { remainingPoints } = await requests.consume(caller.tokenId);
        const allowance = { limit: requestsPerMinute, remaining: remainingPoints };
        return { caller, headers: allowanceHeaders(allowance) };
      } catch (refused) {
        if (refused instanceof RateLimiterRes) throw tooMany(refused, requestsPerMinute);
        throw refused;
      }
    },

    countFailure: async (address) => allowanceHeaders(await countFailure(address, 1)),
  };
}

const allowanceHeaders = ({ limit, remaining }: Allowance) => ({
  "X-RateLimit-Limit": String(limit),
  "X-RateLimit-Remaining": String(remaining),
});

function tooMany(state: RateLimiterRes, limit: number): ServiceError {
  const waitSeconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
  return new ServiceError("too_many_requests", errorMessage.too_many_requests, {
    "Retry-After": String(waitSeconds),
    "X-RateLimit-Reset": String(Math.ceil(Date.now() / 1000) + waitSeconds),
    ...allowanceHeaders({ limit, remaining: 0 }),
  });
}

/** The address a request came from. Requests that came through no socket share one. */
export const addressOf = (environment: { incoming?: IncomingMessage } | undefined): string =>
  environment?.incoming?.socket.remoteAddress ?? "unknown";
