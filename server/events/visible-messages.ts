// Which of a channel's messages a token may read: a channel is shared by the sites of several servers.
import { sql } from "../store/drizzle.ts";

/** The servers that may be seen; null = all. */
export type Visible = readonly number[] | null;

/**
 * A condition on `channel_messages`: all of its events are of these servers, or it is a test, which tells of none. A message
 * whose events are gone might have been about anything.
 * @param alias what the query calls `channel_messages`
 */
export function isVisibleMessage(alias: string, visible: Visible): ReturnType<typeof sql> {
  if (visible === null) return sql`true`;
  const message = sql.identifier(alias);
  const included = sql`from channel_message_events included join events on events.id = included.event_id where included.message_id = ${message}.id`;
  // What is of the installation has no server, and is of none of these.
  const isOfThese = sql`(events.server_id = any(${sql.param([...visible])}::int[])) is true`;
  return sql`(${message}.event = 'channel.test' or (
    exists (select ${included} and ${isOfThese}) and not exists (select ${included} and not ${isOfThese})))`;
}
