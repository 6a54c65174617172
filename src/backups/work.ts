// What of a configuration waits or runs now.
import {
  type Backup,
  type BackupConfiguration,
  runningWork,
} from "../../contract/backups/backup.ts";

export type Work = { backup: Backup; kind: NonNullable<ReturnType<typeof runningWork>> };

/** The first of its backups that is made, restored or in a drill; null = none is, as far as its newest backups tell. */
export function workOf({ last_backup: last, backups }: BackupConfiguration): Work | null {
  for (const backup of [...(last === null ? [] : [last]), ...backups]) {
    const kind = runningWork(backup);
    // A backup before a restore is a part of it, and what can be canceled is the restore.
    if (kind !== null && !(kind === "run" && backup.trigger === "safety")) return { backup, kind };
  }
  return null;
}

/**
 * How far a run is, from 0 to 1, by what the finished backup before it held; null where that says nothing, as once it is
 * larger.
 */
export function runShare(backup: Backup, backups: readonly Backup[]): number | null {
  const usual = usualBytes(backup, backups);
  const read = backup.progress?.plain_bytes ?? 0;
  return usual === null || usual === 0 || read > usual ? null : read / usual;
}

/** Bytes before compression of the finished backup before one; null = there is none to compare with. */
export const usualBytes = (backup: Backup, backups: readonly Backup[]): number | null =>
  backups.find((other) => other.id < backup.id && other.status === "finished")?.plain_size ?? null;
