// Access tokens: what they may do, and how they are made. The secret itself is shown once.
import * as z from "zod/mini";
import { id, line, ownId, timestamp } from "./values.ts";

export const abilities = ["read", "*"] as const;
export type Ability = (typeof abilities)[number];

const shown = {
  id,
  name: z.string(),
  /** `read` may only GET, `*` may do everything. */
  abilities: z.array(z.enum(abilities)),
  /** The servers it may reach; null = all. */
  server_ids: z.nullable(z.array(id)),
  expires_at: z.nullable(timestamp),
  last_used_at: z.nullable(timestamp),
  created_at: timestamp,
  /** It is the one that asks. */
  is_current: z.boolean(),
  /** It is the operator's own, from the service's environment: the next start brings it back. */
  from_environment: z.boolean(),
};

export const token = z.object(shown).register(z.globalRegistry, { id: "Token" });
export type Token = z.infer<typeof token>;

/** A token as it is answered once, when it is made. */
export const newToken = z
  .object({ ...shown, token: z.string() })
  .register(z.globalRegistry, { id: "NewToken" });
export type NewToken = z.infer<typeof newToken>;

export const createTokenBody = z
  .object({
    name: line(100),
    abilities: z.array(z.enum(abilities)).check(z.minLength(1), z.maxLength(abilities.length)),
    server_ids: z.optional(z.nullable(z.array(ownId).check(z.minLength(1), z.maxLength(1000)))),
    expires_at: z.optional(z.nullable(timestamp)),
  })
  .register(z.globalRegistry, { id: "CreateToken" });
export type CreateTokenBody = z.infer<typeof createTokenBody>;
