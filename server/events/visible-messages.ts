// Decides which messages of a channel a token may read, because sites of several servers share channels.
import { sql } from "../store/drizzle.ts";

/** Ids of the servers that the caller may see; null = all. */
export type Visible = readonly number[] | null;

/**
 * A condition on `channel_messages`: all events of the message are of these servers, or it is a test, which has none. A message
 * whose events were deleted is not visible, because it may have been about any server.
 * @param alias of `channel_messages` in the query
 */
export function isVisibleMessage(alias: string, visible: Visible): ReturnType<typeof sql> {
  if (visible === null) return sql`true`;
  const message = sql.identifier(alias);
  const included = sql`from channel_message_events included join events on events.id = included.event_id where included.message_id = ${message}.id`;
  // Events of the installation have no server, and do not fulfill the condition.
  const isOfThese = sql`(events.server_id = any(${sql.param([...visible])}::int[])) is true`;
  return sql`(${message}.event = 'channel.test' or (
    exists (select ${included} and ${isOfThese}) and not exists (select ${included} and not ${isOfThese})))`;
}
