// The way back from a restore: the backup that it made of the data before.
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";

/** The backup before a restore: the last one of its kind that began before the restore ended. */
export const safetyOf = (
  { id, restored_at: restoredAt, restore_target: target }: Backup,
  configuration: BackupConfiguration | undefined,
): Backup | undefined =>
  // What was restored elsewhere is undone there.
  restoredAt === null || target != null
    ? undefined
    : configuration?.backups.find(
        (other) =>
          other.id > id &&
          other.trigger === "safety" &&
          other.status === "finished" &&
          Date.parse(other.started_at) <= Date.parse(restoredAt),
      );

/** Another backup was restored since, so that undoing this restore would undo that one. */
export const isRestoredOver = (
  { id, restored_at: restoredAt }: Backup,
  configuration: BackupConfiguration | undefined,
): boolean =>
  configuration?.backups.some(
    (other) =>
      other.id !== id &&
      other.restored_at !== null &&
      other.restore_target == null &&
      Date.parse(other.restored_at) > Date.parse(restoredAt ?? ""),
  ) ?? false;
