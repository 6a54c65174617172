// The door of everything that wants a token: whether requests are taken at all, who asks, and what is left of the limit.
import type { Context } from "hono";
import type { ApiEnvironment } from "./api.ts";
import { addressOf, type Doorkeeper } from "./authentication.ts";
import type { Caller } from "./route.ts";
import { unavailable } from "./service-error.ts";

export type Door = {
  doorkeeper: Doorkeeper;
  /** Says why no requests are taken now; null = they are. */
  closed(): string | null;
};

/** @throws ServiceError as the doorkeeper does, and `unavailable` while the door is closed */
export async function admit(c: Context<ApiEnvironment>, door: Door): Promise<Caller> {
  const reason = door.closed();
  if (reason !== null) throw unavailable(reason, 5);
  const { caller, headers } = await door.doorkeeper.admit(
    c.req.header("Authorization"),
    addressOf(c.env),
  );
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  return caller;
}
