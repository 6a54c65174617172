// Identifies the caller of a request, by a token or the code of a one-time link, and enforces the two rate limits.
import { isIPv6 } from "node:net";
import type { Context } from "hono";
import type { Logger } from "pino";
import { RateLimiterRes } from "rate-limiter-flexible";
import { errorMessage, type TokenCode } from "../../contract/errors.ts";
import type { Clock } from "../clock.ts";
import type { Peers } from "../instances/peers.ts";
import { addressOf } from "./client-address.ts";
import type { ApiEnvironment } from "./every-request.ts";
import { proofOf } from "./link-proof.ts";
import type { MakeLimiter } from "./limiter.ts";
import type { Caller } from "./route.ts";
import { RefusedToken, ServiceError, unauthenticated, unavailable } from "./service-error.ts";

/**
 * Checks a token.
 * @returns the caller, or why the token is refused; only a caller with the whole token learns that it has expired
 */
export type FindCaller = (token: string) => Promise<Caller | TokenCode>;

/**
 * Exchanges the code of a one-time link for the caller who created it; null if the code is unknown, used, expired or for another
 * path. A used code works with the proof that its use returned.
 * @param isUsed whether this uses up the link
 */
export type RedeemCode = (
  code: string,
  path: string,
  use: { isUsed: boolean; proof: string | null },
) => Promise<{ caller: Caller; proof: string | null } | null>;

/** Failed logins a minute for each address; of IPv6, for each /64 network. */
const failuresPerMinute = 30;

// A token that the operator chose may contain spaces.
const bearer = /^Bearer +(\S.{0,511}?) *$/i;

/** A caller without a token, for public operations. */
const nobody: Caller = {
  tokenId: 0,
  name: "",
  canChange: false,
  serverIds: [],
  reaches: () => false,
};

type AuthenticatorOptions = {
  findCaller: FindCaller;
  redeemCode: RedeemCode;
  /** Identifies the callers of requests that another instance has checked, counted and passed on. */
  peers: Pick<Peers, "callerOf">;
  /** @returns why the service refuses requests now; null = it does not */
  unavailableReason(): string | null;
  clock: Pick<Clock, "now">;
  /** Limit of requests for each token; 0 = no limit. */
  requestsPerMinute: number;
  limiters: MakeLimiter;
  /** Logs the addresses of failed logins, never a part of the header. */
  log: Pick<Logger, "warn">;
};

export function createAuthenticator(options: AuthenticatorOptions) {
  const { findCaller, redeemCode, peers, unavailableReason, requestsPerMinute, limiters, log } =
    options;
  const tooMany = (state: RateLimiterRes, limit: number) =>
    refusedUntil(state, limit, options.clock.now());
  const requests = requestsPerMinute === 0 ? null : limiters("requests", requestsPerMinute);
  const failures = limiters("failures", failuresPerMinute);

  /**
   * Limits failures only. If the address itself were blocked, one client behind a proxy could lock everybody out, and 32
   * characters of a token cannot be guessed at any rate.
   */
  const countFailure = async (c: Context<ApiEnvironment>, points: number) => {
    const address = addressOf(c.env);
    try {
      const { remainingPoints } = await failures.consume(networkOf(address), points);
      if (points > 0) log.warn({ address }, "a login failed");
      return allowanceHeaders(failuresPerMinute, remainingPoints);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      // Logged once a minute, so that an attacker cannot fill the disk.
      if (refused.consumedPoints === failuresPerMinute + points && points > 0)
        log.warn({ address }, "a login failed, and further ones are refused for a minute");
      throw tooMany(refused, failuresPerMinute);
    }
  };

  function requireAvailable(): void {
    const reason = unavailableReason();
    if (reason !== null) throw unavailable(reason, 5);
  }

  /**
   * Identifies the caller by a token, and sets the headers with the rest of the limit.
   * @throws ServiceError `unavailable` while the service accepts no requests, `unauthenticated`, or `too_many_requests` with the
   *   seconds to wait
   */
  async function byToken(c: Context<ApiEnvironment>): Promise<Caller> {
    requireAvailable();
    const passedOn = await peers.callerOf(c);
    if (passedOn !== null) return passedOn;
    const authorization = c.req.header("Authorization");
    const token = bearer.exec(authorization ?? "")?.[1];
    const caller = token === undefined ? null : await findCaller(token);
    if (caller === null || typeof caller === "string") {
      // A request without the header is no guess, and is not counted. Any header is counted, even one without a token.
      const points = authorization === undefined || authorization === "" ? 0 : 1;
      const left = await countFailure(c, points);
      throw caller === null ? unauthenticated(left) : new RefusedToken(caller, left);
    }
    if (requests === null) return caller;
    try {
      const { remainingPoints } = await requests.consume(caller.tokenId);
      setHeaders(c, allowanceHeaders(requestsPerMinute, remainingPoints));
      return caller;
    } catch (refused) {
      if (refused instanceof RateLimiterRes) throw tooMany(refused, requestsPerMinute);
      throw refused;
    }
  }

  return {
    byToken,

    /**
     * Identifies the caller by the code of a one-time link, or by a token where the request has one or has no code.
     * @throws as `byToken`
     */
    async byCode(c: Context<ApiEnvironment>): Promise<Caller> {
      const code = c.req.query("code");
      if (code === undefined || c.req.header("Authorization") !== undefined) return byToken(c);
      requireAvailable();
      const passedOn = await peers.callerOf(c);
      if (passedOn !== null) return passedOn;
      // Browsers and scanners send HEAD before they follow a link, which must not use it up.
      const use = { isUsed: c.req.method !== "HEAD", proof: proofOf(c) };
      const redeemed = await redeemCode(code, c.req.path, use);
      if (redeemed !== null) {
        if (redeemed.proof !== null) c.set("linkProof", redeemed.proof);
        return redeemed.caller;
      }
      throw unauthenticated(
        await countFailure(c, 1),
        "The link has expired or has already been used. Start the download again.",
      );
    },

    /**
     * Runs work that needs no token. Limits failures only, so that a correct code is accepted even while another client at the same
     * address guesses.
     * @throws what `work` throws, or `too_many_requests` in its place
     */
    async asNobody<Result>(
      c: Context<ApiEnvironment>,
      work: (caller: Caller) => Promise<Result>,
    ): Promise<Result> {
      requireAvailable();
      try {
        return await work(nobody);
      } catch (error) {
        if (error instanceof ServiceError && error.code !== "unavailable")
          setHeaders(c, await countFailure(c, 1));
        throw error;
      }
    },
  };
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

function setHeaders(c: Context<ApiEnvironment>, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
}

const allowanceHeaders = (limit: number, remaining: number) => ({
  "X-RateLimit-Limit": String(limit),
  "X-RateLimit-Remaining": String(remaining),
});

function refusedUntil(state: RateLimiterRes, limit: number, nowMs: number): ServiceError {
  const waitSeconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
  return new ServiceError("too_many_requests", errorMessage.too_many_requests, {
    "Retry-After": String(waitSeconds),
    "X-RateLimit-Reset": String(Math.ceil(nowMs / 1000) + waitSeconds),
    ...allowanceHeaders(limit, 0),
  });
}

/**
 * Returns the network by which failed logins are counted: an IPv4 address, also from its IPv4-mapped IPv6 form; for other IPv6
 * addresses the /64 network, because a client usually has all of it.
 */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%");
  if (!isIPv6(plain)) return address;
  // The URL parser normalizes addresses: lower case, no leading zeros, IPv4 in hex.
  const groups = expand(new URL(`http://[${plain}]`).hostname.slice(1, -1));
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  if (groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff")
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** @returns all eight groups of an IPv6 address, with the zeros that `::` stands for */
function expand(address: string): string[] {
  const [head = [], tail = []] = address
    .split("::")
    .map((half) => half.split(":").filter((group) => group !== ""));
  return [...head, ...Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
}
