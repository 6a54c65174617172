import { index, integer, pgTable, sql, text } from "../drizzle.ts";
import type { EventType } from "../../../contract/events.ts";
import { createdAt, jsonb, moment } from "./columns.ts";

/** What a notification says about an event. Its time and server are added when it is sent. */
export type NotificationPayload = {
  /** What the event is about, such as the name of a configuration. */
  subject: string;
  facts: [label: string, value: string][];
  /** Timestamps, shown in UTC and in the server's time zone. */
  moments: [label: string, at: string][];
  /** The reason, in the words of a tool or of the service. */
  reason: string | null;
  /** Path of a page of the dashboard. */
  path: string;
};

export const events = pgTable(
  "events",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    type: text().$type<EventType>().notNull(),
    /** Null = the event belongs to the installation, not to a server. */
    server_id: integer(),
    /** The site that the event belongs to; null = it belongs to a database. */
    site_id: integer(),
    /** The database that the event belongs to: every site whose inventory entry lists it is notified. */
    database_id: integer(),
    /** `webhook-id`: the same for all receivers and attempts. */
    message_id: text().notNull(),
    /** Payload for receivers, without secrets. */
    data: jsonb().$type<Record<string, unknown>>().notNull(),
    /** Texts for notifications. */
    notification: jsonb().$type<NotificationPayload>().notNull(),
    /**
     * What the event is about, such as `worker:7`: deliveries with the same key keep the order of their events. Null = any order.
     */
    order_key: text(),
    /** When deliveries and messages were created for it; null = not yet. */
    dispatched_at: moment("dispatched_at"),
    created_at: createdAt,
  },
  (table) => [
    index("events_undispatched")
      .on(table.id)
      .where(sql`${table.dispatched_at} is null`),
    index("events_by_age").on(table.created_at),
    index("events_by_subject").on(table.order_key, table.id),
  ],
);
