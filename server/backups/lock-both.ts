// Locks a backup together with its configuration, which every decision about the backup needs.
import { conflict } from "../http/service-error.ts";
import type { Connection } from "../store/database.ts";
import type { BackupRow, BackupStore } from "./backup-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "./configuration-store.ts";

export type LockBothOptions = {
  store: Pick<BackupStore, "lock">;
  configurations: Pick<ConfigurationStore, "lock">;
};

/**
 * Creates the function that locks both. It throws a conflict if one of them was deleted, or is being deleted unless `isEnding`, for
 * requests that start nothing.
 */
export const createLockBoth =
  ({ store, configurations }: LockBothOptions) =>
  async (
    tx: Connection,
    { id, configuration_id }: Pick<BackupRow, "id" | "configuration_id">,
    { isEnding = false } = {},
  ): Promise<{ row: BackupRow; configuration: ConfigurationRow }> => {
    // The configuration first, so that two requests do not deadlock.
    const configuration = await configurations.lock(tx, configuration_id);
    const row = await store.lock(tx, id);
    if (row === null || configuration === null) throw conflict("The backup no longer exists.");
    if (!isEnding && configuration.status === "removing")
      throw conflict(`“${configuration.name}” is being deleted, with its backups and their files.`);
    return { row, configuration };
  };
