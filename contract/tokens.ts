// Access tokens: their abilities and scope, and how they are created. The secret is shown once.
import * as z from "zod/mini";
import { id, timestamp } from "./values.ts";

export const abilities = ["read", "*"] as const;
export type Ability = (typeof abilities)[number];

const shown = {
  id,
  name: z.string(),
  /** `read` allows GET only, `*` allows everything. */
  abilities: z.array(z.enum(abilities)),
  /** The servers that the token can access; null = all. */
  server_ids: z.nullable(z.array(id)),
  expires_at: z.nullable(timestamp),
  last_used_at: z.nullable(timestamp),
  created_at: timestamp,
  /** Whether it is the token of the request. */
  is_current: z.boolean(),
  /** Whether it comes from the service's environment, so that the next start restores it. */
  from_environment: z.boolean(),
};

export const token = z.object(shown).register(z.globalRegistry, { id: "Token" });
export type Token = z.infer<typeof token>;

/** A new token with its secret, which only the response to its creation has. */
export const newToken = z
  .object({ ...shown, token: z.string() })
  .register(z.globalRegistry, { id: "NewToken" });
export type NewToken = z.infer<typeof newToken>;

/** Lifetime of a sign-in code, in minutes. */
export const signInCodeMinutes = 10;
