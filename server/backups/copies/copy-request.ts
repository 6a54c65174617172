// Copies a backup into the other storage of its configuration on request.
import { canBackup, isOfRun } from "../../../contract/backups/backup.ts";
import { copyTarget } from "../../../contract/backups/copies.ts";
import { recordActivity } from "../../activity/store.ts";
import { conflict } from "../../http/service-error.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { CopyQueue } from "./copy-queue.ts";
import type { CopyStore } from "./copy-store.ts";
import { backupEntry } from "../event-data.ts";
import { createLockBoth, type LockBothOptions } from "../lock-both.ts";

type CopyRequestOptions = LockBothOptions & {
  store: Pick<BackupStore, "transaction" | "lock">;
  copies: Pick<CopyStore, "there">;
  copyQueue: Pick<CopyQueue, "add" | "nameOf">;
};

export function createCopyRequest({
  store,
  configurations,
  copies,
  copyQueue,
}: CopyRequestOptions) {
  const lockBoth = createLockBoth({ store, configurations });

  /** Queues a copy. @returns the pending copy. @throws a conflict */
  return (found: BackupRow): Promise<BackupRow> =>
    store.transaction(async (tx) => {
      const { row, configuration } = await lockBoth(tx, found);
      const providerId = copyTarget(row, configuration);
      if (!isOfRun(row))
        throw conflict(
          "Only a backup of a run is copied, not a copy or a backup before a restore.",
        );
      if (!canBackup.copy(row))
        throw conflict(`Only a finished backup can be copied. The backup is ${row.status}.`);
      if (row.damage !== null)
        throw conflict("The stored file is damaged. Copying it would store the damage twice.");
      if (providerId === null)
        throw conflict(
          "The backup configuration has no second storage. Choose one under “Copy to”.",
        );
      const name = await copyQueue.nameOf(providerId, tx);
      const there = await copies.there(tx, row.id, providerId);
      if (there !== null)
        throw conflict(
          there.status === "finished"
            ? `Backup ${there.id} is a copy in ${name} already.`
            : `The backup is being copied to ${name} already, as backup ${there.id}.`,
        );
      const copy = await copyQueue.add(tx, configuration, row, providerId);
      const detail = `To ${name}, as backup ${copy.id}.`;
      await recordActivity(tx, backupEntry(configuration, row, "asked to copy", { detail }));
      return copy;
    });
}
