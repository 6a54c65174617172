// Who asks, and how often they may: the token of a request, and the two limits that guard the door.
import type { IncomingMessage } from "node:http";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { errorMessage } from "../../contract/errors.ts";
import type { Caller } from "./route.ts";
import { ServiceError } from "./service-error.ts";

/** Checks a token's text; null for one that is unknown, expired or revoked. */
export type FindCaller = (token: string) => Promise<Caller | null>;

type Allowance = { limit: number; remaining: number };

/** Wrong tokens a minute that one address may try. */
const failuresPerMinute = 30;

// A token that the operator chose may hold spaces.
const bearer = /^Bearer +(\S.{0,511}?) *$/i;

export type Doorkeeper = {
  /**
   * @param authorization the header as it came
   * @returns who asks, and the headers that tell what is left of the limit
   * @throws ServiceError `unauthenticated`, or `too_many_requests` with the seconds to wait
   */
  admit(
    authorization: string | undefined,
    address: string,
  ): Promise<{ caller: Caller; headers: Record<string, string> }>;
};

/** @param requestsPerMinute of each token; 0 = no limit */
export function createDoorkeeper(findCaller: FindCaller, requestsPerMinute: number): Doorkeeper {
  const requests =
    requestsPerMinute === 0
      ? null
      : new RateLimiterMemory({ points: requestsPerMinute, duration: 60 });
  const failures = new RateLimiterMemory({ points: failuresPerMinute, duration: 60 });

  /** Only failures are held back. Were the address itself blocked, anyone behind the same proxy could
   *  lock everybody out, and a token's 32 characters are not guessed at any rate. */
  const countFailure = async (address: string, points: number): Promise<Allowance> => {
    try {
      const { remainingPoints } = await failures.consume(address, points);
      return { limit: failuresPerMinute, remaining: remainingPoints };
    } catch (refused) {
      throw refused instanceof RateLimiterRes ? tooMany(refused, failuresPerMinute) : refused;
    }
  };

  return {
    async admit(authorization, address) {
      const token = bearer.exec(authorization ?? "")?.[1];
      const caller = token === undefined ? null : await findCaller(token);
      if (caller === null) {
        // A request without a token guesses nothing, so it does not count as a failure.
        throw unauthenticated(await countFailure(address, token === undefined ? 0 : 1));
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
  };
}

const allowanceHeaders = ({ limit, remaining }: Allowance) => ({
  "X-RateLimit-Limit": String(limit),
  "X-RateLimit-Remaining": String(remaining),
});

const unauthenticated = (allowance: Allowance) =>
  new ServiceError("unauthenticated", errorMessage.unauthenticated, {
    "WWW-Authenticate": "Bearer",
    ...allowanceHeaders(allowance),
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
