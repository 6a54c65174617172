// Queries of the channels that sites use, and servers for events that belong to none of their sites.
import type { EventChoice } from "../../contract/notifications/bodies.ts";
import type { Connection, Database } from "../store/database.ts";
import { and, asc, eq, inArray, notInArray, sql, unionAll } from "../store/drizzle.ts";
import { notificationChannels, servers, sites } from "../store/tables/inventory.ts";
import { serverChannels, siteChannels } from "../store/tables/notifications.ts";

/** A site or server that uses channels. */
export type ChannelOwner = { kind: "site" | "server"; id: number };

const tables = {
  site: {
    choices: siteChannels,
    ownerId: siteChannels.site_id,
    owners: sites,
    events: siteChannels.events,
  },
  server: {
    choices: serverChannels,
    ownerId: serverChannels.server_id,
    owners: servers,
    events: serverChannels.events,
  },
} as const;

export function createChannelStore(db: Database) {
  const ofOwners = async (tx: Connection, kind: ChannelOwner["kind"], ids: readonly number[]) => {
    if (ids.length === 0) return [];
    const { choices, ownerId, events } = tables[kind];
    return (
      tx
        .select({ ownerId, channelId: choices.channel_id, events })
        // TypeScript cannot resolve the overloads for a union of tables. Both tables have the columns that are read here.
        .from(choices as typeof siteChannels)
        .where(inArray(ownerId, [...ids]))
        .orderBy(asc(choices.channel_id))
    );
  };

  /** Locks an owner, so that concurrent requests replace its channels one after the other. */
  const lock = (tx: Connection, { kind, id }: ChannelOwner) => {
    const { owners } = tables[kind];
    return (
      tx
        .select({ id: owners.id })
        // TypeScript cannot resolve the overloads for a union of tables. Both tables have the column that is read here.
        .from(owners as typeof servers)
        .where(eq(owners.id, id))
        .for("update")
    );
  };

  return {
    transaction: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(steps),

    /** Returns the ids of an owner's channels, in order. */
    async of({ kind, id }: ChannelOwner): Promise<number[]> {
      return (await ofOwners(db, kind, [id])).map(({ channelId }) => channelId);
    },

    ofOwners,

    /** Returns the channels of all sites and servers, with their events. */
    ofAll: (tx: Connection) =>
      unionAll(
        tx
          .select({ channelId: siteChannels.channel_id, events: siteChannels.events })
          .from(siteChannels),
        tx
          .select({ channelId: serverChannels.channel_id, events: serverChannels.events })
          .from(serverChannels),
      ),

    /** Whether one of these servers, or a site of one, uses the channel. */
    async isUsedOn(channelId: number, serverIds: readonly number[]): Promise<boolean> {
      const { rows } = await db.execute<{ used: boolean }>(sql`
        select exists (
          select from site_channels join sites on sites.id = site_id
          where channel_id = ${channelId} and server_id = any(${sql.param([...serverIds])}::int[])
        ) or exists (
          select from server_channels
          where channel_id = ${channelId} and server_id = any(${sql.param([...serverIds])}::int[])
        ) as used`);
      return rows[0]?.used === true;
    },

    /**
     * Replaces the channels of an owner.
     * @returns ids of the previous channels; null if a channel does not exist, in which case nothing changes
     */
    async replace(tx: Connection, { kind, id }: ChannelOwner, channelIds: readonly number[]) {
      const { choices, ownerId } = tables[kind];
      await lock(tx, { kind, id });
      const known =
        channelIds.length === 0
          ? []
          : await tx
              .select({ id: notificationChannels.id })
              .from(notificationChannels)
              .where(inArray(notificationChannels.id, [...channelIds]))
              .for("key share");
      if (known.length !== channelIds.length) return null;
      const before = await ofOwners(tx, kind, [id]);
      // Rows of channels that stay are kept, with their selected events.
      await tx
        // `ownerId` is a column of the same table.
        .delete(choices as typeof siteChannels)
        .where(and(eq(ownerId, id), notInArray(choices.channel_id, [...channelIds])));
      if (channelIds.length > 0 && kind === "site")
        await tx
          .insert(siteChannels)
          .values(channelIds.map((channel) => ({ site_id: id, channel_id: channel })))
          .onConflictDoNothing();
      if (channelIds.length > 0 && kind === "server")
        await tx
          .insert(serverChannels)
          .values(channelIds.map((channel) => ({ server_id: id, channel_id: channel })))
          .onConflictDoNothing();
      return before.map(({ channelId }) => channelId);
    },

    /** Returns an owner's channels with their events, and locks the set until the transaction ends. */
    async lockEvents(tx: Connection, owner: ChannelOwner) {
      await lock(tx, owner);
      return ofOwners(tx, owner.kind, [owner.id]);
    },

    async setEvents(tx: Connection, owner: ChannelOwner, channelId: number, events: EventChoice) {
      const { choices, ownerId } = tables[owner.kind];
      await tx
        // `ownerId` is a column of the same table.
        .update(choices as typeof siteChannels)
        .set({ events })
        .where(and(eq(ownerId, owner.id), eq(choices.channel_id, channelId)));
    },
  };
}

export type ChannelStore = ReturnType<typeof createChannelStore>;
