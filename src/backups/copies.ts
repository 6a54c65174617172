// What is known of the copies of a backup.
import { type Backup, type BackupConfiguration, isOfRun } from "../../contract/backups/backup.ts";
import { isInTransit } from "../../contract/states.ts";

type Copy = NonNullable<Backup["copies"]>[number];

/** A copy that is stored, or is about to be. */
const isCopyGood = ({ status }: Pick<Copy, "status">): boolean =>
  status === "finished" || status === "pending" || isInTransit(status);

/** A copy that was made, or should have been, and is not there; undefined = there is none like that. */
export const brokenCopy = ({ copies = [] }: Pick<Backup, "copies">): Copy | undefined =>
  copies.find((copy) => !isCopyGood(copy));

/** Whether a copy of a backup in the second storage can be asked for, because it has none there. */
export const lacksCopy = (
  { status, damage, copies = [], ...backup }: Backup,
  configuration: BackupConfiguration | null | undefined,
): boolean => {
  const there = configuration?.copy_storage_provider_id ?? null;
  return (
    there !== null &&
    status === "finished" &&
    !damage &&
    isOfRun(backup) &&
    backup.storage_provider_id !== there &&
    !copies.some((copy) => copy.storage_provider_id === there && isCopyGood(copy))
  );
};
