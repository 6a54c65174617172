// Facts about the copies of a backup.
import { type Backup, type BackupConfiguration, isOfRun } from "../../contract/backups/backup.ts";
import { copyTarget, isCopyWarning } from "../../contract/backups/copies.ts";
import { isInTransit } from "../../contract/states.ts";

type Configuration = BackupConfiguration | null | undefined;
type Copy = NonNullable<Backup["copies"]>[number];

/** Whether a copy is stored, or will be. */
const isCopyGood = ({ status }: Pick<Copy, "status">): boolean =>
  status === "finished" || status === "pending" || isInTransit(status);

/** Returns a copy that failed or was removed; undefined = none. */
export const brokenCopy = ({ copies = [] }: Pick<Backup, "copies">): Copy | undefined =>
  copies.find((copy) => !isCopyGood(copy));

/** Returns the copy that a run waits for after storing its own file; undefined = none. */
export const awaitedCopy = ({ status, copies = [] }: Pick<Backup, "status" | "copies">) =>
  status === "running" ? copies.find(isCopyGood) : undefined;

/** Returns the storage to which a backup can be copied now; null = none. */
export const lackingCopy = (
  { status, damage, copies = [], ...backup }: Backup,
  configuration: Configuration,
): number | null => {
  const there = configuration ? copyTarget(backup, configuration) : null;
  const isLacking =
    status === "finished" &&
    !damage &&
    isOfRun(backup) &&
    !copies.some((copy) => copy.storage_provider_id === there && isCopyGood(copy));
  return isLacking ? there : null;
};

/** Whether its copies are shown: it has some, is one, or could be copied. */
export const isCopied = (backup: Backup, configuration: Configuration): boolean =>
  backup.storage_provider_id !== undefined &&
  (backup.trigger === "copy" ||
    (backup.copies ?? []).length > 0 ||
    lackingCopy(backup, configuration) !== null);

/** Separates the warnings about missing copies, which are shown with the copies, from all others. */
export const splitWarnings = (backup: Backup, configuration: Configuration) => {
  const { ofCopies = [], others = [] } = Object.groupBy(backup.warnings ?? [], (warning) =>
    isCopied(backup, configuration) && isCopyWarning(warning) ? "ofCopies" : "others",
  );
  return { ofCopies, others };
};
