// What is known of the copies of a backup.
import { type Backup, type BackupConfiguration, isOfRun } from "../../contract/backups/backup.ts";
import { copyTarget, isCopyWarning } from "../../contract/backups/copies.ts";
import { isInTransit } from "../../contract/states.ts";

type Configuration = BackupConfiguration | null | undefined;
type Copy = NonNullable<Backup["copies"]>[number];

/** A copy that is stored, or is about to be. */
const isCopyGood = ({ status }: Pick<Copy, "status">): boolean =>
  status === "finished" || status === "pending" || isInTransit(status);

/** A copy that was made, or should have been, and is not there; undefined = there is none like that. */
export const brokenCopy = ({ copies = [] }: Pick<Backup, "copies">): Copy | undefined =>
  copies.find((copy) => !isCopyGood(copy));

/** The copy that a run waits for, which has stored its own file; undefined = it waits for none. */
export const awaitedCopy = ({ status, copies = [] }: Pick<Backup, "status" | "copies">) =>
  status === "running" ? copies.find(isCopyGood) : undefined;

/** The storage in which a copy of a backup can be asked for, because it has none there; null = none. */
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

/** Whether there is something to say of its copies: it has some, is one, or could be copied. */
export const isCopied = (backup: Backup, configuration: Configuration): boolean =>
  backup.storage_provider_id !== undefined &&
  (backup.trigger === "copy" ||
    (backup.copies ?? []).length > 0 ||
    lackingCopy(backup, configuration) !== null);

/** What its warnings say of copies that aren't there, which is said beside the copies, and of all else. */
export const splitWarnings = (backup: Backup, configuration: Configuration) => {
  const { ofCopies = [], others = [] } = Object.groupBy(backup.warnings ?? [], (warning) =>
    isCopied(backup, configuration) && isCopyWarning(warning) ? "ofCopies" : "others",
  );
  return { ofCopies, others };
};
