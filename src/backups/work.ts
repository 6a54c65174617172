// The running or waiting operation of a configuration.
import {
  type Backup,
  type BackupConfiguration,
  runningWork,
} from "../../contract/backups/backup.ts";

export type Work = { backup: Backup; kind: NonNullable<ReturnType<typeof runningWork>> };

/** Returns the first operation of its newest backups; null = none. */
export function workOf({ last_backup: last, backups }: BackupConfiguration): Work | null {
  for (const backup of [...(last === null ? [] : [last]), ...backups]) {
    const kind = runningWork(backup);
    // A safety backup is part of a restore, which is what can be canceled.
    if (kind !== null && !(kind === "run" && backup.trigger === "safety")) return { backup, kind };
  }
  return null;
}

/**
 * Returns the progress of a run from 0 to 1, estimated from the previous finished backup; null where there is none, or
 * it was exceeded.
 */
export function runShare(backup: Backup, backups: readonly Backup[]): number | null {
  const usual = usualBytes(backup, backups);
  const read = backup.progress?.plain_bytes ?? 0;
  return usual === null || usual === 0 || read > usual ? null : read / usual;
}

/** Returns the bytes before compression of the previous finished backup; null = there is none. */
export const usualBytes = (backup: Backup, backups: readonly Backup[]): number | null =>
  backups.find((other) => other.id < backup.id && other.status === "finished")?.plain_size ?? null;
