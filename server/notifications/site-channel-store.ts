// Which of the account's channels a site uses.
import type { Connection, Database } from "../store/database.ts";
import { asc, eq, inArray } from "../store/drizzle.ts";
import { notificationChannels, siteChannels, sites } from "../store/tables.ts";

export function createSiteChannelStore(db: Database) {
  return {
    transaction: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(steps),

    /** Ids, in order. */
    async ofSite(siteId: number): Promise<number[]> {
      const rows = await db
        .select({ id: siteChannels.channel_id })
        .from(siteChannels)
        .where(eq(siteChannels.site_id, siteId))
        .orderBy(asc(siteChannels.channel_id));
      return rows.map(({ id }) => id);
    },

    async ofSites(tx: Connection, siteIds: readonly number[]) {
      if (siteIds.length === 0) return [];
      return tx
        .select({ siteId: siteChannels.site_id, channelId: siteChannels.channel_id })
        .from(siteChannels)
        .where(inArray(siteChannels.site_id, [...siteIds]))
        .orderBy(asc(siteChannels.channel_id));
    },

    /**
     * Puts a set in place of a site's channels.
     * @returns what it was; null, and nothing changes, when a channel is not one of the account
     */
    async replace(tx: Connection, siteId: number, channelIds: readonly number[]) {
      // Two requests at once follow each other here, and the later one wins whole.
      await tx.select({ id: sites.id }).from(sites).where(eq(sites.id, siteId)).for("update");
      const known =
        channelIds.length === 0
          ? []
          : await tx
              .select({ id: notificationChannels.id })
              .from(notificationChannels)
              .where(inArray(notificationChannels.id, [...channelIds]))
              .for("key share");
      if (known.length !== channelIds.length) return null;
      const before = await tx
        .delete(siteChannels)
        .where(eq(siteChannels.site_id, siteId))
        .returning({ id: siteChannels.channel_id });
      if (channelIds.length > 0)
        await tx
          .insert(siteChannels)
          .values(channelIds.map((id) => ({ site_id: siteId, channel_id: id })));
      return before.map(({ id }) => id);
    },
  };
}

export type SiteChannelStore = ReturnType<typeof createSiteChannelStore>;
