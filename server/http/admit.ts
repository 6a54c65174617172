// The door of everything that wants a token: whether requests are taken at all, who asks, and what is left of the limit.
import type { Context } from "hono";
import type { ApiEnvironment } from "./environment.ts";
import { addressOf, type Doorkeeper } from "./authentication.ts";
import type { Caller } from "./route.ts";
import { ServiceError, unavailable } from "./service-error.ts";

export type Door = {
  doorkeeper: Doorkeeper;
  /** Says why no requests are taken now; null = they are. */
  closed(): string | null;
};

function mustBeOpen(door: Door): void {
  const reason = door.closed();
  if (reason !== null) throw unavailable(reason, 5);
}

/** @throws ServiceError as the doorkeeper does, and `unavailable` while the door is closed */
export async function admit(c: Context<ApiEnvironment>, door: Door): Promise<Caller> {
  mustBeOpen(door);
  const { caller, headers } = await door.doorkeeper.admit(
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
export async function admitAnybody<Result>(
  c: Context<ApiEnvironment>,
  door: Door,
  work: (caller: Caller) => Promise<Result>,
): Promise<Result> {
  mustBeOpen(door);
  try {
    return await work(nobody);
  } catch (error) {
    if (error instanceof ServiceError && error.code !== "unavailable") {
      const headers = await door.doorkeeper.countFailure(addressOf(c.env));
      for (const [name, value] of Object.entries(headers)) c.header(name, value);
    }
    throw error;
  }
}
