// Events are stored in the transaction of the change that they tell about, and told afterwards.
import { randomBytes } from "node:crypto";
import { maxEventBytes } from "../../contract/events.ts";
import { recordActivity } from "../activity/store.ts";
import type { Connection } from "../store/database.ts";
import { events } from "../store/tables.ts";
import { outcomeOf, type EventRow, type NewEvent } from "./event.ts";

/** As Standard Webhooks asks: unique, and saying nothing. */
const makeMessageId = () => `msg_${randomBytes(20).toString("base64url")}`;

export async function recordEvent(
  tx: Connection,
  { activity, ...event }: NewEvent,
): Promise<EventRow> {
  const [row] = await tx
    .insert(events)
    .values({ ...event, data: cut(event.data), message_id: makeMessageId() })
    .returning();
  if (row === undefined) throw new Error("An insert answered no row.");
  const outcome = outcomeOf[event.type];
  await recordActivity(tx, {
    kind: activity.kind,
    action: activity.action,
    outcome: outcome === "neutral" ? null : outcome,
    object: { ...activity.object, name: event.news.subject },
    server_id: event.server_id,
    site_id: event.site_id,
    detail: event.news.reason,
    actor: activity.actor,
  });
  return row;
}

/** What is left for everything but the texts that are cut. */
const reservedBytes = 500;

/** Texts are cut until the body is as small as the specification asks; a tool may have said 50 KB. */
function cut(data: Record<string, unknown>): Record<string, unknown> {
  const room = maxEventBytes - reservedBytes;
  for (let most = 8000; Buffer.byteLength(JSON.stringify(data)) > room; most = Math.floor(most / 2))
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
