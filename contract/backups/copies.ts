// Where the copy of a backup belongs, and what is said where it is not.
import type { Backup, BackupConfiguration } from "./backup.ts";

/**
 * The one of a configuration's two storages that doesn't have the file of a run: the second one or, once the two were
 * exchanged, the first.
 * @returns its id; null = the configuration has no second storage
 */
export const copyTarget = (
  run: Pick<Backup, "storage_provider_id">,
  configuration: Pick<BackupConfiguration, "storage_provider_id" | "copy_storage_provider_id">,
): number | null => {
  const { storage_provider_id: first, copy_storage_provider_id: second = null } = configuration;
  return second !== null && run.storage_provider_id === second ? first : second;
};

/** Whether a warning of a run is about a copy that isn't there. It goes once there is one. */
export const isCopyWarning = (warning: string): boolean =>
  /^Stored, but not copied: |^Stored in .*, missing in /.test(warning);
