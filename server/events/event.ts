// What an event is made of, and what both its kinds of receivers need: a body for webhooks, a notification for people.
import type { ActivityKind } from "../../contract/activity.ts";
import { eventTitles } from "../../contract/event-titles.ts";
import type { EventType } from "../../contract/events.ts";
import { toTimestamp } from "../../contract/values.ts";
import type { Actor } from "../activity/actor.ts";
import type { events, NotificationPayload } from "../store/tables.ts";

export type NewEvent = {
  type: EventType;
  /** Null: of the installation itself. No webhook gets it, and every channel that a site or a server uses may. */
  server_id: number | null;
  /** Of a site or of a database; a database's events go to every site that names it. */
  site_id: number | null;
  database_id: number | null;
  /**
   * What a receiver gets, as `contract/event-payloads.ts` has it; it holds no secret. The names of the server, the site
   * and the database are added where it is stored.
   */
  data: Record<string, unknown>;
  notification: NotificationPayload;
  /** The same on the timeline. */
  activity: {
    kind: ActivityKind;
    /** What happened, in the past tense, e.g. `finished`. */
    action: string;
    object: { type: string; id: number };
    actor: Actor;
  };
};

export type EventRow = typeof events.$inferSelect;

export const outcomeOf: Record<EventType, "good" | "bad" | "neutral"> = {
  "webhook.ping": "neutral",
  "webhook.disabled": "bad",
  "webhook.enabled": "good",
  "webhook.delivery_failed": "bad",
  "site.deployed": "good",
  "site.deployment_failed": "bad",
  "backup.finished": "good",
  "backup.failed": "bad",
  "backup.missed": "bad",
  "backup.damaged": "bad",
  "backup.drill_failed": "bad",
  "restore.finished": "good",
  "restore.failed": "bad",
  "worker.failed": "bad",
  "worker.recovered": "good",
  "worker.crash_looping": "bad",
  "worker.stable": "good",
  "server.unreachable": "bad",
  "server.recovered": "good",
};

type Room = EventType extends `${infer Name}.${string}` ? Name : never;

/** What the events of each room are about, and where their data names it. */
const subjects: Record<Room, { kind: string; idField: string }> = {
  webhook: { kind: "webhook", idField: "webhook_id" },
  site: { kind: "site", idField: "site_id" },
  backup: { kind: "backup-configuration", idField: "configuration_id" },
  restore: { kind: "backup-configuration", idField: "configuration_id" },
  worker: { kind: "worker", idField: "worker_id" },
  server: { kind: "server", idField: "server_id" },
};

export const roomOf = (type: EventType) =>
  // `Room` is the first word of every type, which a slice cannot show.
  type.slice(0, type.indexOf(".")) as Room;

/**
 * What an event is about, e.g. `worker:7`. Of the events about one thing none is sent before those that happened earlier.
 * @returns null for a ping, which asks whether it arrives now
 */
export function orderKeyOf(type: EventType, data: Record<string, unknown>): string | null {
  if (type === "webhook.ping") return null;
  const { kind, idField } = subjects[roomOf(type)];
  const id = data[idField];
  if (typeof id !== "number") throw new Error(`A ${type} event names no ${idField}.`);
  return `${kind}:${id}`;
}

/** A request's body. The same row gives the same bytes each time, so what was signed once verifies always. */
export const bodyOf = ({ type, created_at, data }: EventRow): string =>
  JSON.stringify({ type, timestamp: toTimestamp(created_at), data });

/** Outcome first, e.g. `Backup failed: Shop`. */
export const titleOf = (type: EventType, { subject }: NotificationPayload): string =>
  `${eventTitles[type]}: ${subject}`;
