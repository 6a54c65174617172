// What a configuration's schedule leads to next: its runs, and what the first of them removes.
import { clockChangeNote, nextRuns } from "../../contract/backups/schedule.ts";
import type { Clock } from "../clock.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { BackupRow, BackupStore } from "./backup-store.ts";
import type { ConfigurationRow } from "./configuration-store.ts";
import { removedByNextRun } from "./retention.ts";

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

export const createScheduleService = (options: {
  store: Pick<BackupStore, "finished">;
  inventory: Pick<InventoryStore, "findServer">;
  clock: Clock;
}): ScheduleService => ({
  async preview({ id, server_id, frequency, hold, keep, copy_storage_provider_id: copiesTo }) {
    const server = await options.inventory.findServer(server_id);
    const timeZone = server?.timeZone ?? "UTC";
    const now = new Date(options.clock.now());
    const runs = nextRuns(frequency, timeZone, now, shownRuns);
    return {
      timeZone,
      runs,
      clockChange: clockChangeNote(frequency, timeZone, now),
      removed: removedByNextRun(
        await options.store.finished(id),
        { hold, keep, timeZone, isCopied: copiesTo !== null },
        runs[0] ?? now,
      ),
    };
  },
});
