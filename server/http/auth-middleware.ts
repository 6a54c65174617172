// Authenticates every request that needs a token: whether requests are taken at all, who asks, and what is left of the limit.
import type { Context } from "hono";
import type { ApiEnvironment } from "./environment.ts";
import { addressOf, type Authenticator } from "./authentication.ts";
import type { Caller } from "./route.ts";
import { ServiceError, unauthenticated, unavailable } from "./service-error.ts";

export type AuthOptions = {
  authenticator: Authenticator;
  /** Says why no requests are taken now; null = they are. */
  unavailableReason(): string | null;
  redeemCode: RedeemCode;
};

/**
 * Exchanges the code of a one-time link for the caller whose link it is; null for one that is unknown, used, expired or
 * for another path.
 * @param isUsed whether the link is used up by this
 */
export type RedeemCode = (code: string, path: string, isUsed: boolean) => Promise<Caller | null>;

function requireAvailable(auth: AuthOptions): void {
  const reason = auth.unavailableReason();
  if (reason !== null) throw unavailable(reason, 5);
}

/** @throws ServiceError as the authenticator does, and `unavailable` while no requests are taken */
export async function authenticate(c: Context<ApiEnvironment>, auth: AuthOptions): Promise<Caller> {
  requireAvailable(auth);
  const { caller, headers } = await auth.authenticator.authenticate(
    c.req.header("Authorization"),
    addressOf(c.env),
  );
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  return caller;
}

/**
 * Authenticates by the code of a one-time link, or by a token where the request has one or has no code.
 * @throws as `authenticate`
 */
export async function authenticateByCode(
  c: Context<ApiEnvironment>,
  auth: AuthOptions,
): Promise<Caller> {
  const code = c.req.query("code");
  if (code === undefined || c.req.header("Authorization") !== undefined)
    return authenticate(c, auth);
  requireAvailable(auth);
  // Browsers and scanners look at a link by HEAD before they follow it.
  const caller = await auth.redeemCode(code, c.req.path, c.req.method !== "HEAD");
  if (caller !== null) return caller;
  throw unauthenticated(
    await auth.authenticator.countFailure(addressOf(c.env)),
    "The link has expired or has already been used. Start the download again.",
  );
}

/** Who has no token: sees nothing, and may do nothing but what is public. */
const nobody: Caller = {
  tokenId: 0,
  name: "",
  canChange: false,
  serverIds: [],
  reaches: () => false,
};

/**
 * Does what asks for no token. Only failures are held back, so that a right code gets in whoever else guesses from this address.
 * @throws what `work` throws, or `too_many_requests` in its place
 */
export async function allowAnonymous<Result>(
  c: Context<ApiEnvironment>,
  auth: AuthOptions,
  work: (caller: Caller) => Promise<Result>,
): Promise<Result> {
  requireAvailable(auth);
  try {
    return await work(nobody);
  } catch (error) {
    if (error instanceof ServiceError && error.code !== "unavailable") {
      const headers = await auth.authenticator.countFailure(addressOf(c.env));
      for (const [name, value] of Object.entries(headers)) c.header(name, value);
    }
    throw error;
  }
}
