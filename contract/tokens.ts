// Access tokens: what they may do, and how they are made. The secret itself is shown once.
import * as z from "zod/mini";
import { id, line, ownId, timestamp, toTimestamp } from "./values.ts";

const abilities = ["read", "*"] as const;
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

/** Of the form alone, “2026-02-30” would do; and a database knows no year 0. */
function isMoment(text: string): boolean {
  const date = new Date(text);
  const milliseconds = "2026-01-31T09:30:00.000".length;
  return (
    !Number.isNaN(date.getTime()) &&
    date.getUTCFullYear() > 0 &&
    toTimestamp(date).slice(0, milliseconds) === text.slice(0, milliseconds)
  );
}

const expiry = timestamp.check(
  z.refine(isMoment, {
    error: "The expires at field must be a date that exists.",
    // A text of another form has its complaint already.
    when: ({ issues }) => issues.length === 0,
  }),
);

export const createTokenBody = z
  .object({
    name: line(100),
    abilities: z.array(z.enum(abilities)).check(z.minLength(1), z.maxLength(abilities.length)),
    server_ids: z.optional(z.nullable(z.array(ownId).check(z.minLength(1), z.maxLength(1000)))),
    /** Left out: when the token that makes it expires, which is never for most. */
    expires_at: z.optional(z.nullable(expiry)),
  })
  .register(z.globalRegistry, { id: "CreateToken" });
export type CreateTokenBody = z.infer<typeof createTokenBody>;

/** For how long the code of a first sign-in can be exchanged. */
export const signInCodeMinutes = 10;

export const signInBody = z
  .object({ code: line(200) })
  .register(z.globalRegistry, { id: "SignIn" });
