// Which storage a copy of a backup belongs in, and which warnings are about missing copies.
import type { Backup, BackupConfiguration } from "./backup.ts";

/**
 * Returns the id of the configuration's storage that lacks the file of a run: the second storage or, once the two were
 * exchanged, the first.
 * @returns null where the configuration has no second storage
 */
export const copyTarget = (
  run: Pick<Backup, "storage_provider_id">,
  configuration: Pick<BackupConfiguration, "storage_provider_id" | "copy_storage_provider_id">,
): number | null => {
  const { storage_provider_id: first, copy_storage_provider_id: second = null } = configuration;
  return second !== null && run.storage_provider_id === second ? first : second;
};

/** Whether a warning of a run is about a missing copy. Such a warning is removed once the copy exists. */
export const isCopyWarning = (warning: string): boolean =>
  /^Stored, but not copied: |^Stored in .*, missing in /.test(warning);
