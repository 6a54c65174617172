// Actions on tokens.
import type { Token } from "../../contract/tokens.ts";
import type { CreateTokenBody } from "../../contract/bodies.ts";
import { hasStatus } from "../api/api-error.ts";
import { call } from "../api/client.ts";
import { invalidate } from "../api/query.ts";
import { sessions } from "../api/session.ts";

/** Creates a token. Without `useMutation`, whose cache would keep the secret for minutes. */
export async function createToken(body: CreateTokenBody) {
  const made = await call("createToken", {}, { body });
  // Not awaited: the secret is shown next, not a list.
  void invalidate("listTokens");
  return made;
}

/** Revokes a token. Revoking the current one ends the session. */
export async function revokeToken({ id, is_current: isCurrent }: Token): Promise<void> {
  try {
    await call("deleteToken", { id });
  } catch (error) {
    // Somebody else has revoked it already.
    if (!hasStatus(error, 404)) throw error;
  }
  if (isCurrent) sessions.end();
  else await invalidate("listTokens");
}
