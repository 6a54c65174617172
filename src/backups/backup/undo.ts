// Undoes a restore by its safety backup.
import type { Backup, BackupConfiguration } from "../../../contract/backups/backup.ts";
import { refusal } from "./backup-actions.ts";

/** Returns the safety backup of a restore: the last one that began before the restore ended. */
export const safetyOf = (
  { id, restored_at: restoredAt, restore_target: target }: Backup,
  configuration: BackupConfiguration | undefined,
): Backup | undefined =>
  // A restore to another target is undone there.
  restoredAt === null || target != null
    ? undefined
    : configuration?.backups.find(
        (other) =>
          other.id > id &&
          other.trigger === "safety" &&
          other.status === "finished" &&
          Date.parse(other.started_at) <= Date.parse(restoredAt),
      );

type Restored = Pick<Backup, "id" | "restored_at">;
type Others = { backups: readonly (Restored & Pick<Backup, "restore_target">)[] };

/** Whether another backup was restored since, so that undoing this restore would undo that one, too. */
export const isRestoredOver = (
  { id, restored_at: restoredAt }: Restored,
  configuration: Others | undefined,
): boolean =>
  configuration?.backups.some(
    (other) =>
      other.id !== id &&
      other.restored_at !== null &&
      other.restore_target == null &&
      Date.parse(other.restored_at) > Date.parse(restoredAt ?? ""),
  ) ?? false;

/** Whether the restore can be undone now: not while it is being undone, and not after another restore. */
export const canUndo = (
  backup: Restored,
  safety: Parameters<typeof refusal>[1],
  configuration: Others,
): boolean => refusal("restore", safety) === undefined && !isRestoredOver(backup, configuration);
