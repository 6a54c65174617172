// Forecasts a configuration's next runs, and the backups that retention removes after the first of them.
import { clockChangeNote, nextRuns } from "../../../contract/backups/schedule.ts";
import type { Clock } from "../../clock.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import { chooseBase } from "../incremental/choose-base.ts";
import { removedByNextRun } from "../retention/retention.ts";
import { folderOf } from "../run/take-backup.ts";

const shownRuns = 5;

type SchedulePreview = {
  timeZone: string;
  /** Soonest first; empty where no run is scheduled. */
  runs: Date[];
  clockChange: string | null;
  /** Finished backups, oldest first. */
  removed: BackupRow[];
};

export type ScheduleService = {
  preview(configuration: ConfigurationRow): Promise<SchedulePreview>;
};

/** Returns the id of the full backup that the next run is expected to need; null = the run makes a full backup. */
async function expectedBase(
  inventory: Pick<InventoryStore, "findStorageProvider">,
  configuration: ConfigurationRow,
  finished: readonly BackupRow[],
  at: Date,
): Promise<number | null> {
  const { incremental, storage_provider_id: storageProviderId } = configuration;
  if (!incremental) return null;
  const provider = await inventory.findStorageProvider(storageProviderId);
  const willBeEncrypted = provider?.recipients !== undefined;
  if (willBeEncrypted && provider?.drill_identity === undefined) return null;
  const folder = folderOf(configuration);
  const choice = chooseBase(finished, { storageProviderId, folder, willBeEncrypted, at });
  return "base" in choice ? choice.base.id : null;
}

export const createScheduleService = (options: {
  store: Pick<BackupStore, "finished">;
  inventory: Pick<InventoryStore, "findServer" | "findStorageProvider">;
  clock: Clock;
}): ScheduleService => ({
  async preview(configuration) {
    const { id, server_id, frequency, hold, keep } = configuration;
    const isCopied = configuration.copy_storage_provider_id !== null;
    const server = await options.inventory.findServer(server_id);
    const timeZone = server?.timeZone ?? "UTC";
    const now = new Date(options.clock.now());
    const runs = nextRuns(frequency, timeZone, now, shownRuns);
    const at = runs[0] ?? now;
    const finished = await options.store.finished(id);
    const baseId = await expectedBase(options.inventory, configuration, finished, at);
    return {
      timeZone,
      runs,
      clockChange: clockChangeNote(frequency, timeZone, now),
      removed: removedByNextRun(finished, { hold, keep, timeZone, isCopied }, at, baseId),
    };
  },
});
