// Restores a backup, after a question that says what replaces what. Undoing a restore is one more: of the backup that it
// made of the data before.
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import { call } from "../api/client.ts";
import { mutate } from "../api/mutate.ts";
import { confirm, type Question } from "../app/confirm.ts";
import { refreshBackups } from "./backup-actions.ts";
import { hasExtras } from "./backup-facts.ts";
import { followRestore } from "./follow-restore.ts";
import { RestoreLoss } from "./RestoreLoss.tsx";

/** What becomes of the present data when a backup is restored over it. */
const safetyChoices: NonNullable<Question["choices"]> = {
  legend: "Current data",
  options: [
    {
      value: "save",
      label: "Back up current data first",
      help: "If this backup fails, the restore doesn't start and nothing changes.",
    },
    {
      value: "discard",
      label: "Restore without a backup",
      help: "For data that is too damaged to back up. Changes since the last backup are lost, and the restore can't be undone.",
    },
  ],
};

/** What is typed in place of the name, so that nobody gets here by habit. */
const discardWord = "discard";

/** Whatever else was chosen, what is there is saved. */
const isDiscarding = (choice: string): boolean => choice === "discard";

const restoreMutation = {
  mutationFn: ({ id, skipsSafetyBackup }: { id: number; skipsSafetyBackup: boolean }) =>
    // Another service may know no body here.
    call("restoreBackup", { id }, skipsSafetyBackup ? { body: { skip_safety_backup: true } } : {}),
  onSettled: refreshBackups,
};

/** Asks before a backup replaces current data. */
function ask(
  backup: Backup,
  configuration: BackupConfiguration | null,
  { title, action, onStarted }: Pick<Question, "title" | "action"> & { onStarted?: () => void },
): void {
  const { id } = backup;
  confirm({
    title,
    body: <RestoreLoss backup={backup} configuration={configuration} />,
    ...(hasExtras(backup) && { choices: safetyChoices }),
    typed: (choice) =>
      isDiscarding(choice) ? discardWord : (configuration?.backupable.name ?? String(id)),
    action,
    run: async (choice) => {
      const skipsSafetyBackup = isDiscarding(choice);
      await mutate(restoreMutation, { id, skipsSafetyBackup });
      followRestore(id, (safety, now) => askUndo(id, safety, now));
      onStarted?.();
    },
  });
}

export const askRestore = (backup: Backup, configuration: BackupConfiguration | null): void =>
  ask(backup, configuration, { title: `Restore backup ${backup.id}?`, action: "Restore" });

/**
 * @param restoredId the backup whose restore is undone
 * @param safety the backup that the restore made of the data before
 */
export const askUndo = (
  restoredId: number,
  safety: Backup,
  configuration: BackupConfiguration | null,
  onStarted?: () => void,
): void =>
  ask(safety, configuration, {
    title: `Undo the restore of backup ${restoredId}?`,
    action: "Undo restore",
    ...(onStarted !== undefined && { onStarted }),
  });
