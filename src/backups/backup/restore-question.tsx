// Restores a backup, after a confirmation that says what is replaced. Undoing a restore is the restore of its safety
// backup.
import type { Backup, BackupConfiguration } from "../../../contract/backups/backup.ts";
import { call } from "../../api/client.ts";
import { mutate } from "../../api/mutate.ts";
import { confirm, type Question } from "../../app/confirm.ts";
import { refreshBackups } from "./backup-actions.ts";
import { hasExtras } from "../backup-facts.ts";
import { followRestore } from "./follow-restore.ts";
import {
  createIdentity,
  IdentityFields,
  identityBody,
  isAtIdentity,
  noteRefusal,
} from "../IdentityFields.tsx";
import { RestoreLoss } from "./RestoreLoss.tsx";

/** What happens to the present data in a restore. */
export const safetyChoices: NonNullable<Question["choices"]> = {
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

/** Has to be typed instead of the name, so that nobody does it by habit. */
export const discardWord = "discard";

/** Whether the present data is discarded; any other value keeps a safety backup. */
export const isDiscarding = (choice: string): boolean => choice === "discard";

type Restore = {
  id: number;
  skip_safety_backup?: true;
  identity?: string;
  passphrase?: string;
};

const restoreMutation = {
  mutationFn: ({ id, ...body }: Restore) =>
    // Another service may not accept a body.
    call("restoreBackup", { id }, Object.keys(body).length > 0 ? { body } : {}),
  onSettled: refreshBackups,
};

/** Asks before a backup replaces current data. */
function ask(
  backup: Backup,
  configuration: BackupConfiguration | null,
  { title, action, onStarted }: Pick<Question, "title" | "action"> & { onStarted?: () => void },
): void {
  const { id } = backup;
  const identity = backup.encrypted === true ? createIdentity() : null;
  confirm({
    title,
    body: (
      <>
        <RestoreLoss backup={backup} configuration={configuration} />
        {identity !== null && <IdentityFields given={identity} />}
      </>
    ),
    ...(hasExtras(backup) && { choices: safetyChoices }),
    typed: (choice) =>
      isDiscarding(choice) ? discardWord : (configuration?.backupable.name ?? String(id)),
    action,
    isAtField: isAtIdentity,
    run: async (choice) => {
      try {
        await mutate(restoreMutation, {
          id,
          ...(isDiscarding(choice) && { skip_safety_backup: true }),
          ...(identity !== null && identityBody(identity.get())),
        });
      } catch (error) {
        if (identity !== null) noteRefusal(identity, error);
        throw error;
      }
      followRestore(id, (safety, now) => askUndo(id, safety, now));
      onStarted?.();
    },
  });
}

export const askRestore = (backup: Backup, configuration: BackupConfiguration | null): void =>
  ask(backup, configuration, { title: `Restore backup ${backup.id}?`, action: "Restore" });

/**
 * @param restoredId the backup whose restore is undone
 * @param safety the safety backup of that restore
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
