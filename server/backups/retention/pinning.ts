// Pins backups: a pinned backup is deleted neither by retention nor by a request until it is unpinned.
import { canBackup } from "../../../contract/backups/backup.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { conflict } from "../../http/service-error.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import { backupEntry } from "../event-data.ts";
import { createLockBoth, type LockBothOptions } from "../lock-both.ts";

type PinningOptions = LockBothOptions & {
  store: Pick<BackupStore, "transaction" | "lock" | "update">;
  clock: Clock;
};

export function createPinning({ store, configurations, clock }: PinningOptions) {
  const lockBoth = createLockBoth({ store, configurations });

  /** Pins or unpins a backup, unless it is so already. @throws a conflict */
  return (found: BackupRow, isPinned: boolean): Promise<BackupRow> =>
    store.transaction(async (tx) => {
      const { row, configuration } = await lockBoth(tx, found);
      if (isPinned && !canBackup.pin(row))
        throw conflict(`Only a finished backup can be pinned. The backup is ${row.status}.`);
      if ((row.pinned_at !== null) === isPinned) return row;
      const change = { pinned_at: isPinned ? new Date(clock.now()) : null };
      await store.update(tx, row.id, change);
      await recordActivity(tx, backupEntry(configuration, row, isPinned ? "pinned" : "unpinned"));
      return { ...row, ...change };
    });
}
