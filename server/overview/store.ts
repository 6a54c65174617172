// Reads what the overview is made of: a few counts and the rows that have trouble, however many servers there are.
import { mostProblems } from "../../contract/overview.ts";
import type { Database } from "../store/database.ts";
import { and, asc, eq, inArray, isNotNull, or, sql } from "../store/drizzle.ts";
import { sites, webhooks, workers } from "../store/tables.ts";

/** The servers that may be seen; null = all. */
export type Visible = readonly number[] | null;

export function createOverviewStore(db: Database) {
  const ofVisible = (visible: Visible) =>
    visible === null ? undefined : inArray(sites.server_id, [...visible]);
  const place = { server_id: sites.server_id, site_id: sites.id, site: sites.name };

  return {
    /** How many workers there are in each state. */
    async workersByStatus(visible: Visible): Promise<Map<string, number>> {
      const rows = await db
        .select({ status: workers.status, many: sql<number>`count(*)::int` })
        .from(workers)
        .innerJoin(sites, eq(sites.id, workers.site_id))
        .where(ofVisible(visible))
        .groupBy(workers.status);
      return new Map(rows.map(({ status, many }) => [status, many]));
    },

    /** Workers that failed, or that come up by themselves just now; and those of `ids`. */
    troubledWorkers: (visible: Visible, ids: readonly number[]) =>
      db
        .select({
          id: workers.id,
          ...place,
          queue: workers.queue,
          status: workers.status,
          reason: workers.status_reason,
        })
        .from(workers)
        .innerJoin(sites, eq(sites.id, workers.site_id))
        .where(
          and(
            ofVisible(visible),
            or(
              eq(workers.status, "failed"),
              // A restart that somebody asked for has no reason to give.
              and(eq(workers.status, "restarting"), isNotNull(workers.status_reason)),
              inArray(workers.id, [...ids]),
            ),
          ),
        )
        .orderBy(asc(workers.id))
        .limit(mostProblems),

    async countWebhooks(visible: Visible): Promise<number> {
      const [row] = await db
        .select({ many: sql<number>`count(*)::int` })
        .from(webhooks)
        .innerJoin(sites, eq(sites.id, webhooks.site_id))
        .where(ofVisible(visible));
      return row?.many ?? 0;
    },

    troubledWebhooks: (visible: Visible) =>
      db
        .select({
          id: webhooks.id,
          ...place,
          url: webhooks.url,
          disabled_at: webhooks.disabled_at,
          reason: webhooks.disabled_reason,
          failing_since: webhooks.failing_since,
        })
        .from(webhooks)
        .innerJoin(sites, eq(sites.id, webhooks.site_id))
        .where(
          and(
            ofVisible(visible),
            or(isNotNull(webhooks.disabled_at), isNotNull(webhooks.failing_since)),
          ),
        )
        .orderBy(asc(webhooks.id))
        .limit(mostProblems),

    /** Every channel that a visible site uses, with its newest message. */
    async usedChannels(visible: Visible) {
      const { rows } = await db.execute<{
        id: number;
        name: string;
        site_id: number;
        status: string | null;
        title: string | null;
        answer: string | null;
        created_at: Date | null;
      }>(sql`
        select c.id, c.name, used.site_id, last.status, last.title, last.answer, last.created_at
        from (
          select channel_id, min(site_id) as site_id
          from site_channels join sites on sites.id = site_id
          where ${visible === null ? sql`true` : sql`sites.server_id = any(${sql.param([...visible])}::int[])`}
          group by channel_id
        ) used
        join notification_channels c on c.id = used.channel_id
        left join lateral (
          select status, title, answer, created_at from channel_messages
          where channel_id = c.id order by id desc limit 1
        ) last on true
        order by c.id`);
      return rows;
    },
  };
}

export type OverviewStore = ReturnType<typeof createOverviewStore>;
