// The way back from a restore: the backup that it made of the data before.
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import { refusal } from "./backup-actions.ts";

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

type Restored = Pick<Backup, "id" | "restored_at">;
type Others = { backups: readonly (Restored & Pick<Backup, "restore_target">)[] };

/** Another backup was restored since, so that undoing this restore would undo that one. */
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

/** Whether the restore can be undone just now: not while it is being undone, and not once another one went over it. */
export const canUndo = (
  backup: Restored,
  safety: Parameters<typeof refusal>[1],
  configuration: Others,
): boolean => refusal("restore", safety) === undefined && !isRestoredOver(backup, configuration);
