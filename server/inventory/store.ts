// Queries of the inventory's rows.
import { eq, inArray, sql } from "../store/drizzle.ts";
import type { Connection, Database } from "../store/database.ts";
import {
  databases,
  notificationChannels,
  servers,
  sites,
  storageProviders,
} from "../store/tables/inventory.ts";
import type { EntryAccounts, UndecidedEntries } from "./accounts.ts";
import {
  type DatabaseRow,
  type NotificationChannelEntry,
  type ServerRow,
  type SiteRow,
  type StorageProviderEntry,
  toDatabase,
  toServer,
  toSite,
} from "./rows.ts";
import { type InUse, stillUsed } from "./in-use.ts";
import { createInventoryLists, type InventoryTable } from "./lists.ts";
import { replaceEntries } from "./replace-entries.ts";
import type { Inventory } from "./schema.ts";

export type {
  DatabaseRow,
  NotificationChannelEntry,
  ServerRow,
  SiteRow,
  StorageProviderEntry,
} from "./rows.ts";

export function createInventoryStore(db: Database) {
  const selectSite = db
    .select()
    .from(sites)
    .where(eq(sites.id, sql.placeholder("id")))
    .prepare("site_by_id");

  return {
    ...createInventoryLists(db),

    /**
     * Replaces all rows by the file's entries, or none.
     * @param decided for its `undecided` entries the stored account counts, as long as it matches the entry
     * @param also stores what belongs to the same change
     * @returns reasons against it: entries that are gone from the file and still in use
     */
    replace: (
      inventory: Inventory,
      decided: { accounts: EntryAccounts; undecided?: UndecidedEntries },
      also: (tx: Connection) => Promise<void> = async () => undefined,
    ): Promise<string[]> =>
      db.transaction(async (tx) => {
        const inUse = await replaceEntries(
          tx,
          inventory,
          decided.accounts,
          decided.undecided ?? { sites: new Set(), databases: new Set() },
        );
        if (inUse.length === 0) await also(tx);
        return inUse;
      }),

    /** Returns the entries in use that an inventory would remove. */
    stillUsed: (inventory: Inventory): Promise<InUse[]> => stillUsed(db, inventory),

    /** Returns the accounts that were decided when their entries were accepted. */
    async listAccounts(): Promise<EntryAccounts> {
      const of = async (table: typeof sites | typeof databases) =>
        new Map(
          // The overloads do not accept a union of tables; both tables have the columns that are read here.
          (await db.select({ id: table.id, account: table.account }).from(table as typeof sites))
            // Rows of older versions have no decision yet.
            .flatMap(({ id, account }) => (account === null ? [] : [[id, account] as const])),
        );
      return { sites: await of(sites), databases: await of(databases) };
    },

    async findServer(id: number, tx: Connection = db): Promise<ServerRow | null> {
      const [row] = await tx.select().from(servers).where(eq(servers.id, id));
      return row ? toServer(row) : null;
    },

    allServers: async (): Promise<ServerRow[]> => (await db.select().from(servers)).map(toServer),

    /** Whether the server is the machine that the service runs on. */
    async isLocal(id: number): Promise<boolean> {
      const [row] = await db.select().from(servers).where(eq(servers.id, id));
      return row === undefined || toServer(row).connection === "local";
    },

    /** Returns all entries, as the file had them when it was read. */
    async entries(): Promise<Inventory> {
      const of = <Table extends InventoryTable>(table: Table) =>
        db
          .select({ entry: table.entry })
          // The overloads do not accept a union of tables; all tables have the columns that are read here.
          .from(table as typeof servers)
          .orderBy(table.id)
          .then((rows) =>
            // Each row contains an entry of its table's kind.
            rows.map(({ entry }) => entry as unknown as Table["$inferSelect"]["entry"]),
          );
      return {
        servers: await of(servers),
        sites: await of(sites),
        databases: await of(databases),
        storage_providers: await of(storageProviders),
        notification_channels: await of(notificationChannels),
      };
    },

    /** Returns the servers' entries of the file. */
    async listServerEntries(): Promise<Inventory["servers"]> {
      const rows = await db.select({ entry: servers.entry }).from(servers);
      return rows.map(({ entry }) => entry);
    },

    /** Returns all sites and databases of a server. */
    async listEntriesOf(serverId: number): Promise<{ sites: SiteRow[]; databases: DatabaseRow[] }> {
      return {
        sites: (await db.select().from(sites).where(eq(sites.server_id, serverId))).map(toSite),
        databases: (await db.select().from(databases).where(eq(databases.server_id, serverId))).map(
          toDatabase,
        ),
      };
    },

    async findSite(id: number, tx?: Connection): Promise<SiteRow | null> {
      const [row] =
        tx === undefined
          ? await selectSite.execute({ id })
          : await tx.select().from(sites).where(eq(sites.id, id));
      return row ? toSite(row) : null;
    },

    /** Returns the sites by id, without missing ones. */
    async findSites(ids: readonly number[]): Promise<Map<number, SiteRow>> {
      if (ids.length === 0) return new Map();
      const rows = await db
        .select()
        .from(sites)
        .where(inArray(sites.id, [...ids]));
      return byId(rows.map(toSite));
    },

    async findDatabase(id: number): Promise<DatabaseRow | null> {
      const [row] = await db.select().from(databases).where(eq(databases.id, id));
      return row ? toDatabase(row) : null;
    },

    /** Returns the databases by id, without missing ones. */
    async findDatabases(ids: readonly number[]): Promise<Map<number, DatabaseRow>> {
      if (ids.length === 0) return new Map();
      const rows = await db
        .select()
        .from(databases)
        .where(inArray(databases.id, [...ids]));
      return byId(rows.map(toDatabase));
    },

    allStorageProviders: async (): Promise<StorageProviderEntry[]> =>
      (await db.select({ entry: storageProviders.entry }).from(storageProviders)).map(
        ({ entry }) => entry,
      ),

    async findStorageProvider(
      id: number,
      tx: Connection = db,
    ): Promise<StorageProviderEntry | null> {
      const [row] = await tx.select().from(storageProviders).where(eq(storageProviders.id, id));
      return row ? row.entry : null;
    },

    /** Returns the key of the folder that has the storage provider's marker file; null = none yet. */
    async markedPathOf(id: number): Promise<string | null> {
      const [row] = await db
        .select({ path: storageProviders.marked_path })
        .from(storageProviders)
        .where(eq(storageProviders.id, id));
      return row?.path ?? null;
    },

    /** Whether a storage provider has its marker file in the folder with that key. */
    async isMarkedPath(path: string): Promise<boolean> {
      const found = await db
        .select({ id: storageProviders.id })
        .from(storageProviders)
        .where(eq(storageProviders.marked_path, path))
        .limit(1);
      return found.length > 0;
    },

    async setMarkedPath(id: number, path: string): Promise<void> {
      await db
        .update(storageProviders)
        .set({ marked_path: path })
        .where(eq(storageProviders.id, id));
    },

    async findNotificationChannel(id: number): Promise<NotificationChannelEntry | null> {
      const [row] = await db
        .select()
        .from(notificationChannels)
        .where(eq(notificationChannels.id, id));
      return row ? row.entry : null;
    },

    /** Returns the channels by id, without missing ones. */
    async findNotificationChannels(
      ids: readonly number[],
      tx: Connection = db,
    ): Promise<Map<number, NotificationChannelEntry>> {
      if (ids.length === 0) return new Map();
      const rows = await tx
        .select()
        .from(notificationChannels)
        .where(inArray(notificationChannels.id, [...ids]));
      return new Map(rows.map(({ id, entry }) => [id, entry]));
    },
  };
}

export type InventoryStore = ReturnType<typeof createInventoryStore>;

const byId = <Entry extends { id: number }>(entries: readonly Entry[]): Map<number, Entry> =>
  new Map(entries.map((entry) => [entry.id, entry]));
