// What an event is made of, and what both its kinds of receivers need: bytes for webhooks, words for people.
import type { ActivityKind } from "../../contract/activity.ts";
import { eventWords, type EventType } from "../../contract/events.ts";
import { toTimestamp } from "../../contract/values.ts";
import type { Actor } from "../activity/actor.ts";
import type { events } from "../store/tables.ts";

/** What people are told of an event. When and on which server is added where it is sent. */
export type News = {
  /** What it is about, e.g. the name of a configuration. */
  subject: string;
  facts: [label: string, value: string][];
  /** Timestamps, which are told in UTC and in the server's own time. */
  moments: [label: string, at: string][];
  /** Why, in a tool's or the service's own words. */
  reason: string | null;
  /** Page of the dashboard, from its root. */
  path: string;
};

export type NewEvent = {
  type: EventType;
  server_id: number;
  /** Of a site or of a database; a database's events go to every site that names it. */
  site_id: number | null;
  database_id: number | null;
  /** What a receiver gets; it holds no secret. */
  data: Record<string, unknown>;
  news: News;
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
  "site.deployed": "good",
  "site.deployment_failed": "bad",
  "backup.finished": "good",
  "backup.failed": "bad",
  "backup.missed": "bad",
  "restore.finished": "good",
  "restore.failed": "bad",
  "worker.failed": "bad",
  "worker.recovered": "good",
  "webhook.disabled": "bad",
};

/** A request's body. The same row gives the same bytes each time, so what was signed once verifies always. */
export const bodyOf = ({ type, created_at, data }: EventRow): string =>
  JSON.stringify({ type, timestamp: toTimestamp(created_at), data });

/** Outcome first, e.g. `Backup failed: Shop`. */
export const titleOf = (type: EventType, { subject }: News): string =>
  `${eventWords[type]}: ${subject}`;
