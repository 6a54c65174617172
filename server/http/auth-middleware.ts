// Authenticates every request that needs a token: whether requests are taken at all, who asks, and what is left of the limit.
import type { Context } from "hono";
import type { ApiEnvironment } from "./environment.ts";
import { addressOf, type Authenticator } from "./authentication.ts";
import type { Caller } from "./route.ts";
import { ServiceError, unavailable } from "./service-error.ts";

export type AuthOptions = {
  authenticator: Authenticator;
  /** Says why no requests are taken now; null = they are. */
  unavailableReason(): string | null;
};

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
