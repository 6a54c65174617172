import { index, integer, pgTable, sql, text } from "../drizzle.ts";
import type { PgColumn, SQL } from "../drizzle.ts";
import type { ActivityKind, ActorType } from "../../../contract/activity.ts";
import { moment } from "./columns.ts";

/**
 * Text search vector of the timeline: words, separated by any ASCII character that is not alphanumeric. An index has the same
 * expression. What counts as a letter beyond ASCII depends on the database's locale, so no pattern refers to that.
 */
export const activityWords = (
  table: Record<
    "kind" | "action" | "actor_name" | "object_type" | "object_name" | "detail",
    PgColumn
  >,
): SQL =>
  sql`to_tsvector('simple'::regconfig, regexp_replace(${table.kind} || ' ' || ${table.action} || ' ' || ${table.actor_name} || ' ' || ${table.object_type} || ' ' || ${table.object_name} || ' ' || coalesce(${table.detail}, ''), '[\\x01-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7f]+', ' ', 'g'))`;

/** The timeline. Without foreign keys, because entries outlive the objects that they are about. */
export const activity = pgTable(
  "activity",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    at: moment("at").notNull().defaultNow(),
    kind: text().$type<ActivityKind>().notNull(),
    action: text().notNull(),
    outcome: text().$type<"good" | "bad">(),
    actor_type: text().$type<ActorType>().notNull(),
    actor_name: text().notNull(),
    object_type: text().notNull(),
    object_id: integer().notNull(),
    object_name: text().notNull(),
    server_id: integer(),
    site_id: integer(),
    detail: text(),
  },
  (table) => [
    index("activity_of_server").on(table.server_id, table.id),
    index("activity_of_site").on(table.site_id, table.id),
    index("activity_by_age").on(table.at),
    index("activity_of_actor").on(table.actor_name, table.actor_type, table.server_id, table.id),
    index("activity_words").using("gin", activityWords(table)),
  ],
);
