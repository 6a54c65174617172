// The parts of an event, and how it is presented to its receivers: as a body to webhooks, as a notification to people.
import type { ActivityKind } from "../../contract/activity.ts";
import { eventTitles } from "../../contract/event-titles.ts";
import type { EventType } from "../../contract/events.ts";
import { toTimestamp } from "../../contract/values.ts";
import type { Actor } from "../activity/actor.ts";
import type { events, NotificationPayload } from "../store/tables/events.ts";

export type NewEvent = {
  type: EventType;
  /** Null for an event of the installation itself, which goes to no webhook and to all channels in use. */
  server_id: number | null;
  /** Null for an event of a database, which goes to every site that lists it, or of a server. */
  site_id: number | null;
  database_id: number | null;
  /**
   * The data for receivers, as in `contract/event-payloads.ts`, without secrets. The names of the server, the site and the
   * database are added when the event is stored.
   */
  data: Record<string, unknown>;
  notification: NotificationPayload;
  /** The event on the timeline. */
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

/** The subject of the events of each room, and the field of their data with its id. */
const subjects: Record<Room, { kind: string; idField: string }> = {
  webhook: { kind: "webhook", idField: "webhook_id" },
  site: { kind: "site", idField: "site_id" },
  backup: { kind: "backup-configuration", idField: "configuration_id" },
  restore: { kind: "backup-configuration", idField: "configuration_id" },
  worker: { kind: "worker", idField: "worker_id" },
  server: { kind: "server", idField: "server_id" },
};

export const roomOf = (type: EventType) =>
  // Every type begins with a `Room`, which TypeScript cannot infer from a slice.
  type.slice(0, type.indexOf(".")) as Room;

/**
 * @returns the subject of an event, e.g. `worker:7`, whose events are sent in order; null for a ping, which is sent out of order
 */
export function orderKeyOf(type: EventType, data: Record<string, unknown>): string | null {
  if (type === "webhook.ping") return null;
  const { kind, idField } = subjects[roomOf(type)];
  const id = data[idField];
  if (typeof id !== "number") throw new Error(`A ${type} event names no ${idField}.`);
  return `${kind}:${id}`;
}

/** Builds the body of a delivery. The bytes are the same each time, so that signatures stay valid. */
export const bodyOf = ({ type, created_at, data }: EventRow): string =>
  JSON.stringify({ type, timestamp: toTimestamp(created_at), data });

/** Builds a title with the outcome first, e.g. `Backup failed: Shop`. */
export const titleOf = (type: EventType, { subject }: NotificationPayload): string =>
  `${eventTitles[type]}: ${subject}`;
