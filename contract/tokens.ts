// Access tokens: what they may do, and how they are made. The secret itself is shown once.
import * as z from "zod/mini";
import { id, timestamp } from "./values.ts";

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

/** For how long the code of a first sign-in can be exchanged. */
export const signInCodeMinutes = 10;
