// Access tokens: their permissions, and how they are created. The secret itself is shown once.
import * as z from "zod/mini";
import { id, timestamp } from "./values.ts";

export const abilities = ["read", "*"] as const;
export type Ability = (typeof abilities)[number];

const shown = {
  id,
  name: z.string(),
  /** `read` allows GET only, `*` everything. */
  abilities: z.array(z.enum(abilities)),
  /** The servers that the token can access; null = all. */
  server_ids: z.nullable(z.array(id)),
  expires_at: z.nullable(timestamp),
  last_used_at: z.nullable(timestamp),
  created_at: timestamp,
  /** Whether it is the token of this request. */
  is_current: z.boolean(),
  /** Whether it comes from the service's environment: the next start creates it again. */
  from_environment: z.boolean(),
};

export const token = z.object(shown).register(z.globalRegistry, { id: "Token" });
export type Token = z.infer<typeof token>;

/** A token with its secret, which only the response to its creation contains. */
export const newToken = z
  .object({ ...shown, token: z.string() })
  .register(z.globalRegistry, { id: "NewToken" });
export type NewToken = z.infer<typeof newToken>;

/** How long the code of a first sign-in is valid. */
export const signInCodeMinutes = 10;
