// Stores the timeline's entries, in the transaction of what they record, and lists them by id, newest first.
import type { ActivityKind } from "../../contract/activity.ts";
import { and, desc, eq, gt, gte, inArray, lt, sql } from "../store/drizzle.ts";
import type { Connection, Database } from "../store/database.ts";
import { insertRows } from "../store/rows.ts";
import { activity, activityWords } from "../store/tables/activity.ts";
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
  /** Default: the current actor. */
  actor?: Actor;
};

export type ActivityRow = typeof activity.$inferSelect;

type ActivityFilter = {
  serverId: number | null;
  siteId: number | null;
  kind: ActivityKind | null;
  /** A name. */
  actor: string | null;
  /** Word prefixes; an entry matches if it has all of them. */
  words: readonly string[];
  from: Date | null;
  /** Exclusive. */
  to: Date | null;
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
          filter.actor === null ? undefined : eq(activity.actor_name, filter.actor),
          filter.words.length === 0 ? undefined : hasWords(filter.words),
          filter.from === null ? undefined : gte(activity.at, filter.from),
          filter.to === null ? undefined : lt(activity.at, filter.to),
          filter.before === null ? undefined : lt(activity.id, filter.before),
          filter.after === null ? undefined : gt(activity.id, filter.after),
          filter.visible === null ? undefined : inArray(activity.server_id, [...filter.visible]),
        ),
      )
      .orderBy(desc(activity.id))
      .limit(limit),

  /** Returns the actors of visible entries. It skips from name to name in the index, because there are few names with many entries each. */
  async actors(visible: readonly number[] | null): Promise<Actor[]> {
    const isVisible =
      visible === null ? sql`true` : sql`server_id = any(${sql.param([...visible])}::int[])`;
    const { rows } = await db.execute<Actor>(sql`
      with recursive actors as (
        (select actor_name, actor_type from activity order by actor_name, actor_type limit 1)
        union all
        select following.actor_name, following.actor_type from actors, lateral (
          select actor_name, actor_type from activity
          where (actor_name, actor_type) > (actors.actor_name, actors.actor_type)
          order by actor_name, actor_type limit 1
        ) following
      )
      select actor_type as type, actor_name as name from actors
      where exists (
        select from activity
        where actor_name = actors.actor_name and actor_type = actors.actor_type and ${isVisible}
      )
      order by 2, 1 limit ${maxActors}`);
    return rows;
  },
});

const maxActors = 200;

/** @param words must not contain operators of `to_tsquery` */
const hasWords = (words: readonly string[]) =>
  sql`${activityWords(activity)} @@ to_tsquery('simple'::regconfig, ${words.map((word) => `${word}:*`).join(" & ")})`;

export type ActivityStore = ReturnType<typeof createActivityStore>;
