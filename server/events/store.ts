// Stores events in the transaction of the change that they report. They are dispatched afterwards.
import { randomBytes } from "node:crypto";
import { maxEventBytes } from "../../contract/events.ts";
import { recordActivity } from "../activity/store.ts";
import type { Connection } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { insertedRow } from "../store/rows.ts";
import { events } from "../store/tables/events.ts";
import { orderKeyOf, outcomeOf, roomOf, type EventRow, type NewEvent } from "./event.ts";

/** Makes a unique, opaque id, as Standard Webhooks requires. */
const makeMessageId = () => `msg_${randomBytes(20).toString("base64url")}`;

export async function recordEvent(
  tx: Connection,
  { activity, ...event }: NewEvent,
): Promise<EventRow> {
  const row = insertedRow(
    await tx
      .insert(events)
      .values({
        ...event,
        data: cut({ ...(event.server_id !== null && (await placeOf(tx, event))), ...event.data }),
        message_id: makeMessageId(),
        order_key: event.server_id === null ? "installation" : orderKeyOf(event.type, event.data),
      })
      .returning(),
  );
  const outcome = outcomeOf[event.type];
  await recordActivity(tx, {
    kind: activity.kind,
    action: activity.action,
    outcome: outcome === "neutral" ? null : outcome,
    object: { ...activity.object, name: event.notification.subject },
    server_id: event.server_id,
    site_id: event.site_id,
    detail: event.notification.reason,
    actor: activity.actor,
  });
  return row;
}

type Named = { id: number; name: string };

/**
 * Reads the names of an event's server, site and database, which a receiver cannot look up. Sites on other servers that use the
 * database get the event too, but are not named: a token for this server may not see those.
 */
async function placeOf(
  tx: Connection,
  { type, server_id, site_id, database_id }: Omit<NewEvent, "activity">,
): Promise<Record<string, unknown>> {
  const { rows } = await tx.execute<{
    server: string | null;
    site: string | null;
    database: string | null;
    sites: Named[];
  }>(sql`
    select
      (select name from servers where id = ${server_id}::int) as server,
      (select name from sites where id = ${site_id}::int) as site,
      (select name from databases where id = ${database_id}::int) as database,
      (select coalesce(json_agg(json_build_object('id', id, 'name', name) order by id), '[]')
        from sites where server_id = ${server_id}
          and (id = ${site_id}::int or entry -> 'databases' @> to_jsonb(${database_id}::int))) as sites`);
  const { server = null, site = null, database = null, sites = [] } = rows[0] ?? {};
  const room = roomOf(type);
  return {
    server_id,
    server: server ?? String(server_id),
    ...(room !== "server" && { site_id, site }),
    ...((room === "backup" || room === "restore") && { database_id, database, sites }),
  };
}

/** Bytes reserved for everything except the texts that are truncated. */
const reservedBytes = 500;

/** Truncates texts, such as 50 KB of a tool's output, until the body has the size that the specification allows. */
function cut(data: Record<string, unknown>): Record<string, unknown> {
  const room = maxEventBytes - reservedBytes;
  for (let most = 8000; Buffer.byteLength(JSON.stringify(data)) > room; most = Math.floor(most / 2))
    // `shorten` returns an object for an object.
    data = shorten(data, most) as Record<string, unknown>;
  return data;
}

function shorten(value: unknown, most: number): unknown {
  if (typeof value === "string")
    return value.length > most ? `${value.slice(0, most).toWellFormed()}…` : value;
  if (Array.isArray(value)) return value.slice(0, most).map((item) => shorten(item, most));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shorten(part, most)]));
}
