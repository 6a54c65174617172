// Finds entries that the file no longer has, but that are still in use, so that removing them would affect their users.
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Connection } from "../store/database.ts";
import { eq, ne, notInArray, sql } from "../store/drizzle.ts";
import { backupConfigurations, backups } from "../store/tables/backups.ts";
import {
  databases,
  notificationChannels,
  servers,
  sites,
  storageProviders,
} from "../store/tables/inventory.ts";
import { serverChannels, siteChannels } from "../store/tables/notifications.ts";
import { webhooks } from "../store/tables/webhooks.ts";
import { workers } from "../store/tables/workers.ts";
import type { InventoryKind } from "../../contract/inventory/entries.ts";
import { listedTwice } from "./listed-twice.ts";
import { processManagerOf, type Inventory } from "./schema.ts";

const kinds = {
  sites: { table: sites, word: "Site" },
  databases: { table: databases, word: "Database" },
  storage_providers: { table: storageProviders, word: "Storage provider" },
  notification_channels: { table: notificationChannels, word: "Notification channel" },
} as const;

type Use = {
  of: keyof typeof kinds;
  by: PgTable;
  /** The user's column that refers to the entry. */
  reference: PgColumn;
  /** Id of the user, for the message. */
  number: PgColumn;
  /** @param numbers ids of the users, separated by commas */
  says(numbers: string): string;
};

const has = (users: string) => (numbers: string) =>
  `cannot be removed while it has ${users}: ${numbers}. Delete them first.`;

const configurationOf = (of: Use["of"], reference: PgColumn): Use => ({
  of,
  by: backupConfigurations,
  reference,
  number: backupConfigurations.id,
  says: has("backup configurations"),
});

const uses: readonly Use[] = [
  {
    of: "sites",
    by: workers,
    reference: workers.site_id,
    number: workers.id,
    says: has("workers"),
  },
  {
    of: "sites",
    by: webhooks,
    reference: webhooks.site_id,
    number: webhooks.id,
    says: has("webhooks"),
  },
  {
    of: "notification_channels",
    by: siteChannels,
    reference: siteChannels.channel_id,
    number: siteChannels.site_id,
    says: (numbers) =>
      `cannot be removed while these sites use it: ${numbers}. Deselect the channel there first.`,
  },
  {
    of: "notification_channels",
    by: serverChannels,
    reference: serverChannels.channel_id,
    number: serverChannels.server_id,
    says: (numbers) =>
      `cannot be removed while these servers use it: ${numbers}. Deselect the channel there first.`,
  },
  configurationOf("sites", backupConfigurations.site_id),
  configurationOf("databases", backupConfigurations.database_id),
  configurationOf("storage_providers", backupConfigurations.storage_provider_id),
  {
    of: "storage_providers",
    by: backupConfigurations,
    reference: backupConfigurations.copy_storage_provider_id,
    number: backupConfigurations.id,
    says: (numbers) =>
      `cannot be removed while these backup configurations copy to it: ${numbers}. Choose another storage there first.`,
  },
  {
    of: "storage_providers",
    by: backups,
    reference: backups.storage_provider_id,
    number: backups.id,
    says: has("backups"),
  },
];

type ServerEntry = Inventory["servers"][number];

/** Identifies the process manager of a server's workers. */
const processManagerIn = (server: ServerEntry | undefined) =>
  server !== undefined && processManagerOf(server) === "supervisord"
    ? `${server.id} ${server.connection === "local" ? "here" : "there"} ${server.supervisord_config ?? ""}`
    : "this service";

/** An entry whose change would affect its users. */
export type InUse = { kind: InventoryKind; id: number; field: string; message: string };

/** @returns one for each site whose processes another process manager would have to take over */
async function stillKept(db: Connection, inventory: Inventory): Promise<InUse[]> {
  const rows = await db
    .select({
      id: sites.id,
      name: sites.name,
      server: servers.entry,
      numbers: sql<number[]>`array_agg(${workers.id} order by ${workers.id})`,
    })
    .from(workers)
    .innerJoin(sites, eq(sites.id, workers.site_id))
    .innerJoin(servers, eq(servers.id, sites.server_id))
    .where(ne(workers.status, "stopped"))
    .groupBy(sites.id, servers.id);
  return rows.flatMap(({ id, name, server, numbers }) => {
    const site = inventory.sites.find((entry) => entry.id === id);
    const next = inventory.servers.find((entry) => entry.id === site?.server);
    return site === undefined || processManagerIn(next) === processManagerIn(server)
      ? []
      : [
          {
            kind: "sites",
            id,
            field: "server",
            message: `Site ${id} (${name}) cannot be given another supervisor while these workers are not stopped: ${numbers.join(", ")}. Stop them first.`,
          },
        ];
  });
}

/** @returns one for each entry that is still in use, and either missing in the file or changed in a way that its users do not allow */
export async function stillUsed(db: Connection, inventory: Inventory): Promise<InUse[]> {
  const found = [
    ...(await stillKept(db, inventory)),
    ...(await listedTwice(db, inventory)).map(
      (one) => ({ kind: "storage_providers", ...one }) as const,
    ),
  ];
  for (const { of, by, reference, number, says } of uses) {
    const { table, word } = kinds[of];
    const kept = inventory[of].map(({ id }) => id);
    const rows = await db
      .select({
        id: table.id,
        name: table.name,
        numbers: sql<number[]>`array_agg(${number} order by ${number})`,
      })
      // The overloads do not accept a union of tables; all tables have the columns that are read here.
      .from(table as typeof sites)
      .innerJoin(by, eq(reference, table.id))
      .where(notInArray(table.id, kept))
      .groupBy(table.id);
    for (const { id, name, numbers } of rows)
      found.push({
        kind: of,
        id,
        // The entry is missing, so the error belongs to no field.
        field: "",
        message: `${word} ${id} (${name}) ${says(numbers.join(", "))}`,
      });
  }
  return found;
}
