import { listFilters } from "../http/list-filters.ts";
import type { Connection, Database } from "../store/database.ts";
import { eq, gt, inArray, sql } from "../store/drizzle.ts";
import { createFilteredRows, type ListRequest } from "../store/filtered-rows.ts";
import { insertedRow } from "../store/rows.ts";
import { sites } from "../store/tables/inventory.ts";
import { webhooks } from "../store/tables/webhooks.ts";

export type WebhookRow = typeof webhooks.$inferSelect;
export type WebhookChange = Partial<typeof webhooks.$inferInsert>;

/** Server and name of a webhook's site. */
export type Place = { serverId: number; siteName: string };
type PlacedWebhook = { webhook: WebhookRow; place: Place };

export function createWebhookStore(db: Database) {
  const readList = createFilteredRows(db, webhooks, listFilters.listWebhooks, {
    id: webhooks.id,
    search: [
      sql`'webhook'`,
      webhooks.id,
      webhooks.url,
      webhooks.description,
      webhooks.disabled_reason,
    ],
    status: sql`case when ${webhooks.paused_at} is not null then 'paused'
      when ${webhooks.disabled_at} is not null then 'disabled'
      when ${webhooks.failing_since} is not null then 'failing' else 'enabled' end`,
    sorts: { url: webhooks.url },
  });
  return {
    transaction: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(steps),

    list: (siteId: number, page: ListRequest) => readList(eq(webhooks.site_id, siteId), page),

    /** Returns a webhook with the server and the name of its site. */
    async withSite(id: number) {
      const [row] = await db
        .select({ webhook: webhooks, serverId: sites.server_id, siteName: sites.name })
        .from(webhooks)
        .innerJoin(sites, eq(sites.id, webhooks.site_id))
        .where(eq(webhooks.id, id));
      return row ?? null;
    },

    /** Returns the webhooks of sites, and keeps them from being deleted or changed until the transaction ends. */
    async ofSites(tx: Connection, siteIds: readonly number[]) {
      if (siteIds.length === 0) return [];
      return tx
        .select({
          id: webhooks.id,
          site_id: webhooks.site_id,
          events: webhooks.events,
          disabled_at: webhooks.disabled_at,
          paused_at: webhooks.paused_at,
          failing_since: webhooks.failing_since,
        })
        .from(webhooks)
        .where(inArray(webhooks.site_id, [...siteIds]))
        .orderBy(webhooks.id)
        .for("share");
    },

    async insert(tx: Connection, values: typeof webhooks.$inferInsert): Promise<WebhookRow> {
      return insertedRow(await tx.insert(webhooks).values(values).returning());
    },

    /** @returns the new row; null if it was deleted */
    async update(tx: Connection, id: number, change: WebhookChange): Promise<WebhookRow | null> {
      const [row] = await tx.update(webhooks).set(change).where(eq(webhooks.id, id)).returning();
      return row ?? null;
    },

    /** Keeps rows from being deleted until the transaction ends. @returns those that exist */
    hold: (tx: Connection, ids: readonly number[]) =>
      tx
        .select({ id: webhooks.id })
        .from(webhooks)
        .where(inArray(webhooks.id, [...ids]))
        .orderBy(webhooks.id)
        .for("key share"),

    /** Locks rows until the transaction ends, in the order of their ids. */
    lock: (tx: Connection, ids: readonly number[]): Promise<WebhookRow[]> =>
      tx
        .select()
        .from(webhooks)
        .where(inArray(webhooks.id, [...ids]))
        .orderBy(webhooks.id)
        .for("update"),

    /**
     * Returns webhooks with their places, and keeps others from deleting or changing them until the transaction ends. The lock is
     * shared with transactions that create deliveries. Only the recording transaction whose claim holds changes a webhook afterwards.
     */
    holdPlaced: (tx: Connection, ids: readonly number[]): Promise<PlacedWebhook[]> =>
      tx
        .select({
          webhook: webhooks,
          place: { serverId: sites.server_id, siteName: sites.name },
        })
        .from(webhooks)
        .innerJoin(sites, eq(sites.id, webhooks.site_id))
        .where(inArray(webhooks.id, [...ids]))
        .orderBy(webhooks.id)
        .for("share", { of: webhooks }),

    /** Ends waits requested by receivers that are longer than allowed, because the clock was set back. */
    async endLongPauses(tx: Connection, now: Date, longestMs: number): Promise<void> {
      await tx
        .update(webhooks)
        .set({ paused_until: null })
        .where(gt(webhooks.paused_until, new Date(now.getTime() + longestMs)));
    },

    async remove(tx: Connection, id: number): Promise<boolean> {
      const gone = await tx
        .delete(webhooks)
        .where(eq(webhooks.id, id))
        .returning({ id: webhooks.id });
      return gone.length > 0;
    },
  };
}

export type WebhookStore = ReturnType<typeof createWebhookStore>;
