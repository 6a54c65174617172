import { check, index, integer, pgTable, primaryKey, sql, text } from "../drizzle.ts";
import type { EventChoice } from "../../../contract/notifications/bodies.ts";
import type { ChannelMessageState } from "../../../contract/notifications/notification.ts";
import { createdAt, jsonb, moment } from "./columns.ts";
import { events } from "./events.ts";
import { notificationChannels, ofServer, sites } from "./inventory.ts";

/** The events that a channel is notified about. */
const chosenEvents = () =>
  jsonb()
    .$type<EventChoice>()
    .notNull()
    .default(sql`'"all"'`);

/** The channels of a site. */
export const siteChannels = pgTable(
  "site_channels",
  {
    site_id: integer()
      .notNull()
      .references(() => sites.id),
    channel_id: integer()
      .notNull()
      .references(() => notificationChannels.id),
    events: chosenEvents(),
  },
  (table) => [
    primaryKey({ columns: [table.site_id, table.channel_id] }),
    index("site_channels_of_channel").on(table.channel_id),
  ],
);

/** The channels that are notified about a server, and about what belongs to none of its sites. */
export const serverChannels = pgTable(
  "server_channels",
  {
    server_id: ofServer(),
    channel_id: integer()
      .notNull()
      .references(() => notificationChannels.id),
    events: chosenEvents(),
  },
  (table) => [
    primaryKey({ columns: [table.server_id, table.channel_id] }),
    index("server_channels_of_channel").on(table.channel_id),
  ],
);

/** A message to a channel: one event, or several of a burst. */
export const channelMessages = pgTable(
  "channel_messages",
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    channel_id: integer()
      .notNull()
      .references(() => notificationChannels.id, { onDelete: "cascade" }),
    /** Type of its events; `channel.test` for a test message without events. */
    event: text().notNull(),
    title: text().notNull(),
    count: integer().notNull().default(1),
    status: text().$type<ChannelMessageState>().notNull().default("pending"),
    answer: text(),
    attempts: integer().notNull().default(0),
    next_attempt_at: moment("next_attempt_at"),
    ended_at: moment("ended_at"),
    created_at: createdAt,
  },
  (table) => [
    index("channel_messages_of_channel").on(table.channel_id, table.id),
    index("channel_messages_due")
      .on(table.next_attempt_at)
      .where(sql`${table.next_attempt_at} is not null`),
    check(
      "channel_messages_status",
      sql`${table.status} in ('pending', 'retrying', 'delivered', 'failed')`,
    ),
  ],
);

export const channelMessageEvents = pgTable(
  "channel_message_events",
  {
    message_id: integer()
      .notNull()
      .references(() => channelMessages.id, { onDelete: "cascade" }),
    event_id: integer()
      .notNull()
      .references(() => events.id),
  },
  (table) => [
    primaryKey({ columns: [table.message_id, table.event_id] }),
    index("channel_message_events_of_event").on(table.event_id),
  ],
);
