// What can be done with tokens.
import type { Token } from "../../contract/tokens.ts";
import type { CreateTokenBody } from "../../contract/bodies.ts";
import { hasStatus } from "../api/api-error.ts";
import { call } from "../api/client.ts";
import { invalidate } from "../api/query.ts";
import { sessions } from "../api/session.ts";

/** Makes a token. Called without `useMutation`, whose cache would keep the secret for minutes. */
export async function createToken(body: CreateTokenBody) {
  const made = await call("createToken", {}, { body });
  // Not awaited: what is shown next is the secret, and no list.
  void invalidate("listTokens");
  return made;
}

/** Revokes a token. Without the one in use there is no session any more. */
export async function revokeToken({ id, is_current: isCurrent }: Token): Promise<void> {
  try {
    await call("deleteToken", { id });
  } catch (error) {
    // Somebody else was faster, and gone is what it was to be.
    if (!hasStatus(error, 404)) throw error;
  }
  if (isCurrent) sessions.end();
  else await invalidate("listTokens");
}
