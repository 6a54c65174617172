// The timeline's rows: written in the transaction of what they record, read by key from the newest on.
import type { ActivityKind } from "../../contract/activity.ts";
import { and, desc, eq, gt, inArray, lt } from "../store/drizzle.ts";
import type { Connection, Database } from "../store/database.ts";
import { insertRows } from "../store/rows.ts";
import { activity } from "../store/tables.ts";
import { currentActor, type Actor } from "./actor.ts";

export type NewActivity = {
  kind: ActivityKind;
  /** What was done, in the past tense, e.g. `created`. */
  action: string;
  object: { type: string; id: number; name: string };
  server_id: number | null;
  site_id?: number | null;
  outcome?: "good" | "bad" | null;
  detail?: string | null;
  /** Left out: whoever made the request. */
  actor?: Actor;
};

export type ActivityRow = typeof activity.$inferSelect;

type ActivityFilter = {
  serverId: number | null;
  siteId: number | null;
  kind: ActivityKind | null;
  before: number | null;
  after: number | null;
  /** The servers that may be seen; null = all, and what belongs to none. */
  visible: readonly number[] | null;
};

const maxDetailCharacters = 2000;

export const recordActivity = (tx: Connection, ...entries: NewActivity[]): Promise<void> =>
  insertRows(
    tx,
    activity,
    entries.map(({ object, actor = currentActor(), ...entry }) => ({
      kind: entry.kind,
      action: entry.action,
      outcome: entry.outcome ?? null,
      actor_type: actor.type,
      actor_name: actor.name,
      object_type: object.type,
      object_id: object.id,
      object_name: object.name,
      server_id: entry.server_id,
      site_id: entry.site_id ?? null,
      detail: entry.detail?.slice(0, maxDetailCharacters) ?? null,
    })),
  );

export const createActivityStore = (db: Database) => ({
  /** Newest first. */
  list: (filter: ActivityFilter, limit: number): Promise<ActivityRow[]> =>
    db
      .select()
      .from(activity)
      .where(
        and(
          filter.serverId === null ? undefined : eq(activity.server_id, filter.serverId),
          filter.siteId === null ? undefined : eq(activity.site_id, filter.siteId),
          filter.kind === null ? undefined : eq(activity.kind, filter.kind),
          filter.before === null ? undefined : lt(activity.id, filter.before),
          filter.after === null ? undefined : gt(activity.id, filter.after),
          filter.visible === null ? undefined : inArray(activity.server_id, [...filter.visible]),
        ),
      )
      .orderBy(desc(activity.id))
      .limit(limit),
});

export type ActivityStore = ReturnType<typeof createActivityStore>;
