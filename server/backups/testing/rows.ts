// Stores rows for tests that need no service: an inventory, a configuration, a backup of it.
import type { Database } from "../../store/database.ts";
import { storeInventory } from "../../testing/store-inventory.ts";
import { createBackupStore, type BackupRow } from "../backup-store.ts";
import { createConfigurationStore, type ConfigurationRow } from "../configuration-store.ts";

export const insertInventory = (db: Database): Promise<void> =>
  storeInventory(
    db,
    `
servers: [{ id: 1, name: here, connection: local }]
sites: [{ id: 1, server: 1, name: shop, root: /tmp }]
storage_providers: [{ id: 1, name: disk, type: local, path: /tmp }]`,
  );

export const insertConfiguration = (db: Database): Promise<ConfigurationRow> =>
  db.transaction((tx) =>
    createConfigurationStore(db).insert(tx, {
      server_id: 1,
      name: "Shop",
      frequency: "0 3 * * *",
      hold: 1,
      directory: "shop",
      storage_provider_id: 1,
      type: "site",
      site_id: 1,
    }),
  );

export const insertBackup = (db: Database, { id }: ConfigurationRow): Promise<BackupRow> =>
  db.transaction((tx) =>
    createBackupStore(db).insert(tx, {
      configuration_id: id,
      storage_provider_id: 1,
      trigger: "manual",
    }),
  );
