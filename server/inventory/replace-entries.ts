// Replaces the inventory's rows by the entries of the file.
import { and, eq, inArray, ne, notInArray, sql } from "../store/drizzle.ts";
import type { Connection } from "../store/database.ts";
import { backupConfigurations } from "../store/tables/backups.ts";
import {
  databases,
  notificationChannels,
  servers,
  sites,
  storageProviders,
} from "../store/tables/inventory.ts";
import { serverChannels, siteChannels } from "../store/tables/notifications.ts";
import { holdsFor, type EntryAccounts, type UndecidedEntries } from "./accounts.ts";
import type { EntryAccount } from "./one-account.ts";
import { stillUsed } from "./in-use.ts";
import type { Inventory } from "./schema.ts";

/**
 * Several instances read the inventory into one database, so that a newer decision of one must not be overwritten by an older one
 * of another.
 */
const replaceLock = 4_705_320_221;

/**
 * @param tx a transaction, so that all rows are replaced or none
 * @param undecided entries whose stored account counts, as long as it matches the entry
 * @returns reasons against it: entries that are gone from the file and still in use
 */
export async function replaceEntries(
  tx: Connection,
  inventory: Inventory,
  accounts: EntryAccounts,
  undecided: UndecidedEntries,
): Promise<string[]> {
  await tx.execute(sql`select pg_advisory_xact_lock(${replaceLock})`);
  const inUse = await stillUsed(tx, inventory);
  if (inUse.length > 0) return inUse.map(({ message }) => message);
  // Sites and databases refer to servers, so servers are inserted first and deleted last.
  await upsert(tx, servers, inventory.servers);
  const ofServer = async <Entry extends Inventory["sites" | "databases"][number]>(
    table: OwnedTable,
    kind: "sites" | "databases",
  ) => {
    const stored = await storedAccounts(tx, table, undecided[kind]);
    return (entry: Entry) => {
      const known = stored.get(entry.id);
      return {
        server_id: entry.server,
        account: holdsFor(entry, known) ? known : (accounts[kind].get(entry.id) ?? null),
      };
    };
  };
  await upsert(tx, sites, inventory.sites, await ofServer(sites, "sites"));
  await upsert(tx, databases, inventory.databases, await ofServer(databases, "databases"));
  await followServers(tx);
  await upsert(tx, storageProviders, inventory.storage_providers);
  await upsert(tx, notificationChannels, inventory.notification_channels);
  // Selected channels of removed sites and servers are deleted too.
  await tx.delete(siteChannels).where(notInArray(siteChannels.site_id, idsOf(inventory.sites)));
  await tx
    .delete(serverChannels)
    .where(notInArray(serverChannels.server_id, idsOf(inventory.servers)));
  for (const [table, entries] of [
    [sites, inventory.sites],
    [databases, inventory.databases],
    [servers, inventory.servers],
    [storageProviders, inventory.storage_providers],
    [notificationChannels, inventory.notification_channels],
  ] as const)
    await tx.delete(table).where(notInArray(table.id, idsOf(entries)));
  return [];
}

async function storedAccounts(
  tx: Connection,
  table: OwnedTable,
  ids: ReadonlySet<number>,
): Promise<ReadonlyMap<number, EntryAccount | null>> {
  if (ids.size === 0) return new Map();
  const rows = await tx
    .select({ id: table.id, account: table.account })
    // The overloads do not accept a union of tables; both tables have the columns that are read here.
    .from(table as typeof sites)
    .where(inArray(table.id, [...ids]));
  return new Map(rows.map(({ id, account }) => [id, account]));
}

/** A statement is limited to 65,535 parameters, and a row has up to five. */
const rowsAtOnce = 1000;

type InventoryTable = typeof servers | typeof storageProviders | typeof notificationChannels;
type OwnedTable = typeof sites | typeof databases;

const idsOf = (entries: readonly { id: number }[]) => entries.map(({ id }) => id);

async function upsert<Entry extends { id: number; name: string }>(
  tx: Connection,
  table: InventoryTable | OwnedTable,
  entries: readonly Entry[],
  more: (entry: Entry) => { server_id?: number; account?: EntryAccount | null } = () => ({}),
): Promise<void> {
  for (let from = 0; from < entries.length; from += rowsAtOnce) {
    const rows: unknown[] = entries
      .slice(from, from + rowsAtOnce)
      .map((entry) => ({ id: entry.id, name: entry.name, entry, ...more(entry) }));
    // The overloads do not accept a union of tables. Each caller passes a table its own entries and columns.
    const values = rows as (typeof sites.$inferInsert)[];
    const changed = Object.keys(values[0] ?? {}).filter((name) => name !== "id");
    await tx
      // As above: the values fit the table.
      .insert(table as typeof sites)
      .values(values)
      .onConflictDoUpdate({
        target: table.id,
        // Columns are named like their keys.
        set: Object.fromEntries(changed.map((name) => [name, sql.raw(`excluded.${name}`)])),
        // Most rows are unchanged: updating them would leave thousands of dead rows at each start of each instance.
        setWhere: sql`(${sql.join(
          changed.map((name) => sql`${table}.${sql.identifier(name)}`),
          sql`, `,
        )}) is distinct from (${sql.raw(changed.map((name) => `excluded.${name}`).join(", "))})`,
      });
  }
}

/** Moves the backup configurations of an entry to its new server, so that tokens of the old server lose access. */
async function followServers(tx: Connection): Promise<void> {
  for (const [table, reference] of [
    [sites, backupConfigurations.site_id],
    [databases, backupConfigurations.database_id],
  ] as const)
    await tx
      .update(backupConfigurations)
      .set({ server_id: sql`${table.server_id}` })
      // The overloads do not accept a union of tables; both tables have the columns that are read here.
      .from(table as typeof sites)
      .where(and(eq(reference, table.id), ne(backupConfigurations.server_id, table.server_id)));
}
