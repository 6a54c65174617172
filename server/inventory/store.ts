// The inventory's rows, looked up by everybody else.
import { asc, eq, inArray, sql } from "../store/drizzle.ts";
import { itemsOn, type PageRequest } from "../../contract/paging.ts";
import { defaultArtisan } from "../../contract/workers/command.ts";
import type { Connection, Database } from "../store/database.ts";
import { readRows } from "../store/rows.ts";
import {
  databases,
  notificationChannels,
  servers,
  sites,
  storageProviders,
} from "../store/tables.ts";
import type { EntryAccount, EntryAccounts } from "./accounts.ts";
import { expandHome } from "./paths.ts";
import { replaceEntries } from "./replace-entries.ts";
import type { Inventory } from "./schema.ts";

export type ServerRow = { id: number; name: string; timeZone: string };
export type SiteRow = {
  id: number;
  serverId: number;
  name: string;
  /** Absolute. */
  root: string;
  /** The command before `queue:work`. */
  artisan: readonly string[];
  workerCount: number;
  createdAt: Date;
  /** Ids of its databases. */
  databases: readonly number[];
  account: EntryAccount;
};

/** An entry as the file has it, with the server it is on. */
export type DatabaseRow = {
  id: number;
  serverId: number;
  createdAt: Date;
  entry: DatabaseEntry;
  /** Of one that is a file. */
  account: EntryAccount;
};
type DatabaseEntry = Inventory["databases"][number];
export type StorageProviderEntry = Inventory["storage_providers"][number];
export type NotificationChannelEntry = Inventory["notification_channels"][number];

export function createInventoryStore(db: Database) {
  const selectSite = db
    .select()
    .from(sites)
    .where(eq(sites.id, sql.placeholder("id")))
    .prepare("site_by_id");

  return {
    /**
     * Puts the file's entries in place of the rows, all or none.
     * @returns what stands in the way: entries that are gone from the file and still used
     */
    replace: (inventory: Inventory, accounts: EntryAccounts): Promise<string[]> =>
      db.transaction((tx) => replaceEntries(tx, inventory, accounts)),

    /** As they were decided when their entries were accepted. */
    async listAccounts(): Promise<EntryAccounts> {
      const of = async (table: typeof sites | typeof databases) =>
        new Map(
          // The overloads of a union of tables do not meet; the columns read here stand in both.
          (await db.select({ id: table.id, account: table.account }).from(table as typeof sites))
            // Of an older version's row, where none was decided yet, nothing is stored.
            .flatMap(({ id, account }) => (account === null ? [] : [[id, account] as const])),
        );
      return { sites: await of(sites), databases: await of(databases) };
    },

    async listServers(page: PageRequest, reachable: (id: number) => boolean) {
      // A token's reach is a list of ids in memory, and there are hundreds of servers at the most.
      const all = await db.select().from(servers).orderBy(asc(servers.id));
      const visible = all.filter(({ id }) => reachable(id));
      return { rows: itemsOn(visible, page).map(toServer), total: visible.length };
    },

    async findServer(id: number): Promise<ServerRow | null> {
      const [row] = await db.select().from(servers).where(eq(servers.id, id));
      return row ? toServer(row) : null;
    },

    async listSites(serverId: number, page: PageRequest) {
      const { rows, total } = await readRows(
        db.select().from(sites).where(eq(sites.server_id, serverId)).orderBy(asc(sites.id)),
        db.$count(sites, eq(sites.server_id, serverId)),
        page,
      );
      return { rows: rows.map(toSite), total };
    },

    async findSite(id: number, tx?: Connection): Promise<SiteRow | null> {
      const [row] =
        tx === undefined
          ? await selectSite.execute({ id })
          : await tx.select().from(sites).where(eq(sites.id, id));
      return row ? toSite(row) : null;
    },

    /** By id; those that are not there are not in it. */
    async findSites(ids: readonly number[]): Promise<Map<number, SiteRow>> {
      if (ids.length === 0) return new Map();
      const rows = await db
        .select()
        .from(sites)
        .where(inArray(sites.id, [...ids]));
      return byId(rows.map(toSite));
    },

    async listDatabases(serverId: number, page: PageRequest) {
      const { rows, total } = await readRows(
        db
          .select()
          .from(databases)
          .where(eq(databases.server_id, serverId))
          .orderBy(asc(databases.id)),
        db.$count(databases, eq(databases.server_id, serverId)),
        page,
      );
      return { rows: rows.map(toDatabase), total };
    },

    async findDatabase(id: number): Promise<DatabaseRow | null> {
      const [row] = await db.select().from(databases).where(eq(databases.id, id));
      return row ? toDatabase(row) : null;
    },

    /** By id; those that are not there are not in it. */
    async findDatabases(ids: readonly number[]): Promise<Map<number, DatabaseRow>> {
      if (ids.length === 0) return new Map();
      const rows = await db
        .select()
        .from(databases)
        .where(inArray(databases.id, [...ids]));
      return byId(rows.map(toDatabase));
    },

    async listStorageProviders(page: PageRequest) {
      const { rows, total } = await readRows(
        db.select().from(storageProviders).orderBy(asc(storageProviders.id)),
        db.$count(storageProviders),
        page,
      );
      return { rows: rows.map(({ entry }) => entry), total };
    },

    async findStorageProvider(
      id: number,
      tx: Connection = db,
    ): Promise<StorageProviderEntry | null> {
      const [row] = await tx.select().from(storageProviders).where(eq(storageProviders.id, id));
      return row ? row.entry : null;
    },

    /** The folder that a storage provider's marker file was put into; null = none yet. */
    async markedPathOf(id: number): Promise<string | null> {
      const [row] = await db
        .select({ path: storageProviders.marked_path })
        .from(storageProviders)
        .where(eq(storageProviders.id, id));
      return row?.path ?? null;
    },

    async setMarkedPath(id: number, path: string): Promise<void> {
      await db
        .update(storageProviders)
        .set({ marked_path: path })
        .where(eq(storageProviders.id, id));
    },

    async listNotificationChannels(page: PageRequest) {
      const { rows, total } = await readRows(
        db.select().from(notificationChannels).orderBy(asc(notificationChannels.id)),
        db.$count(notificationChannels),
        page,
      );
      return { rows: rows.map(({ entry }) => entry), total };
    },

    async findNotificationChannel(id: number): Promise<NotificationChannelEntry | null> {
      const [row] = await db
        .select()
        .from(notificationChannels)
        .where(eq(notificationChannels.id, id));
      return row ? row.entry : null;
    },

    /** By id; those that are not there are not in it. */
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

const undecided: EntryAccount = {
  account: null,
  problem: "No account yet: Quarterdeck couldn't read the inventory since the last upgrade.",
  ownerOf: null,
};

const toServer = (row: typeof servers.$inferSelect): ServerRow => ({
  id: row.id,
  name: row.name,
  timeZone: row.entry.time_zone ?? "UTC",
});

function toSite(row: typeof sites.$inferSelect): SiteRow {
  const { root, artisan, databases: ids = [] } = row.entry;
  return {
    id: row.id,
    serverId: row.server_id,
    name: row.name,
    root: expandHome(root),
    workerCount: row.worker_count,
    createdAt: row.created_at,
    databases: ids,
    account: row.account ?? undecided,
    artisan:
      artisan === undefined
        ? defaultArtisan
        : typeof artisan === "string"
          ? artisan.split(/\s+/)
          : artisan,
  };
}

const toDatabase = (row: typeof databases.$inferSelect): DatabaseRow => ({
  id: row.id,
  serverId: row.server_id,
  createdAt: row.created_at,
  entry: row.entry,
  account: row.account ?? undecided,
});
