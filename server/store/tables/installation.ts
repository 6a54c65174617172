import { bigint, integer, pgTable, text } from "../drizzle.ts";

/** Settings that the installation stores about itself, such as the id that marks its workers. */
export const settings = pgTable("settings", {
  key: text().primaryKey(),
  value: text().notNull(),
});

/** State of rate limits that several instances share. Unlogged, so that counting does not wait for the disk. */
export const rateLimits = pgTable("rate_limits", {
  key: text().primaryKey(),
  points: integer().notNull().default(0),
  /** When the limit resets, in milliseconds. */
  expire: bigint({ mode: "number" }),
});
