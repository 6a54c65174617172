// Stores the end of a successful run: its row, its event, and its effect on the configuration.
import { recordActivity } from "../../activity/store.ts";
import { recordEvent } from "../../events/store.ts";
import type { Connection } from "../../store/database.ts";
import type { BackupChange, BackupRow, BackupStore } from "../backup-store.ts";
import type { ChainStore } from "../incremental/chain-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import { backupEntry, backupEvent } from "../event-data.ts";
import type { BackupCounts } from "../metrics.ts";

export type EndRunOptions = {
  store: Pick<BackupStore, "move">;
  configurations: Pick<ConfigurationStore, "clearMissed" | "move">;
  chainStore: Pick<ChainStore, "baseDamage" | "lockBase">;
  counts: BackupCounts;
};

export function createEndRun({ store, configurations, chainStore, counts }: EndRunOptions) {
  return {
    /**
     * Ends a run, or a safety backup, in the transaction of its outcome.
     * @param configuration locked in the transaction
     * @returns the finished row; null if it was moved by others first
     */
    async endRun(
      tx: Connection,
      configuration: ConfigurationRow,
      row: BackupRow,
      change: BackupChange,
    ): Promise<BackupRow | null> {
      const damage = await chainStore.baseDamage(tx, row);
      const finished = await store.move(tx, row, "finished", { ...change, ...damage });
      if (finished === null || finished.trigger === "safety") return finished;
      if (finished.trigger === "import") {
        await recordActivity(tx, backupEntry(configuration, finished, "imported"));
        return finished;
      }
      const recovered = await configurations.clearMissed(tx, configuration.id);
      // The rehearsal failed, and this run has just proved that it works.
      if (configuration.status === "failed")
        await configurations.move(tx, configuration, "installed", { status_reason: null });
      const details = { type: "backup.finished", reason: null, more: { recovered } } as const;
      await recordEvent(tx, backupEvent(configuration, finished, details));
      return finished;
    },

    /** Called only after the transaction, so that metrics count stored runs. */
    count({ trigger, status, size, started_at: from, ended_at: to }: BackupRow): void {
      counts.ran({
        trigger,
        outcome: status === "finished" ? "finished" : "failed",
        durationMs: (to ?? from).getTime() - from.getTime(),
        sizeBytes: size,
      });
    },
  };
}
