import { index, integer, pgTable, sql, text } from "../drizzle.ts";
import type { InventoryKind } from "../../../contract/inventory/entries.ts";
import type { EntryAccount } from "../../inventory/one-account.ts";
import type { Inventory } from "../../inventory/schema.ts";
import { createdAt, jsonb } from "./columns.ts";

// Tables of the inventory. The ids are those of the file, and `entry` is the entry in the file.
const inventoryColumns = <Kind extends InventoryKind>() => ({
  id: integer().primaryKey(),
  name: text().notNull(),
  entry: jsonb().$type<Inventory[Kind][number]>().notNull(),
  created_at: createdAt,
});

export const servers = pgTable("servers", inventoryColumns<"servers">());

/**
 * The account that was chosen when the entry was accepted; null for entries without files, and until the inventory is read again.
 */
const entryAccount = () => jsonb("account").$type<EntryAccount>();

export const ofServer = () =>
  integer()
    .notNull()
    .references(() => servers.id);

export const sites = pgTable(
  "sites",
  {
    ...inventoryColumns<"sites">(),
    server_id: ofServer(),
    account: entryAccount(),
    /** Maintained by a trigger of the workers' table: counting 100,000 rows for each page costs more than the page itself. */
    worker_count: integer().notNull().default(0),
  },
  (table) => [
    index("sites_of_server").on(table.server_id, table.id),
    // To find the sites that list a database, which get its events.
    index("sites_of_database").using("gin", sql`(${table.entry} -> 'databases') jsonb_path_ops`),
    // To find the site that the first start creates.
    index("sites_of_root").using("hash", sql`(${table.entry} ->> 'root')`),
  ],
);

export const databases = pgTable(
  "databases",
  {
    ...inventoryColumns<"databases">(),
    server_id: ofServer(),
    account: entryAccount(),
  },
  (table) => [index("databases_of_server").on(table.server_id, table.id)],
);

export const storageProviders = pgTable("storage_providers", {
  ...inventoryColumns<"storage_providers">(),
  /** The folder in which a marker file was found or created; if it disappears from there, the disk is not mounted. */
  marked_path: text(),
});

export const notificationChannels = pgTable(
  "notification_channels",
  inventoryColumns<"notification_channels">(),
);
