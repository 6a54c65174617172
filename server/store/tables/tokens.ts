import { boolean, integer, pgTable, text } from "../drizzle.ts";
import type { Ability } from "../../../contract/tokens.ts";
import { createdAt, moment } from "./columns.ts";

export const tokens = pgTable("tokens", {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  name: text().notNull(),
  /** Hex SHA-256 of the secret part. The secret itself is not stored. */
  hash: text().notNull().unique(),
  abilities: text().array().$type<Ability[]>().notNull(),
  /** The servers that the token may access; null = all. */
  server_ids: integer().array(),
  /** Whether the token comes from the environment, so that a change there replaces it. */
  from_environment: boolean().notNull().default(false),
  expires_at: moment("expires_at"),
  last_used_at: moment("last_used_at"),
  created_at: createdAt,
});

/** One-time links. Each replaces its token for one path, and is deleted with it. */
export const oneTimeLinks = pgTable("one_time_links", {
  /** Hex SHA-256 of the code in the link; of a used one, of the code, a period and the proof. Neither is stored. */
  hash: text().primaryKey(),
  path: text().notNull(),
  token_id: integer()
    .notNull()
    .references(() => tokens.id, { onDelete: "cascade" }),
  expires_at: moment("expires_at").notNull(),
});
