// Reports the outcome of a restore, on whichever page the user is.
import type { Backup, BackupConfiguration } from "../../../contract/backups/backup.ts";
import { isInTransit } from "../../../contract/states.ts";
import { isPassing } from "../../api/api-error.ts";
import { queryClient } from "../../api/query.ts";
import { dismissToast, toast } from "../../app/toasts.ts";
import { paths } from "../../paths.ts";
import { backupQuery, configurationQuery } from "../queries.ts";
import { canUndo, safetyOf } from "./undo.ts";

const lookMs = 1_000;

type Undo = (safety: Backup, configuration: BackupConfiguration) => void;

const lastLine = (text: string | null) => text?.trimEnd().split("\n").at(-1) ?? null;

/** Whether the backup's page is open, which shows the outcome itself. */
const isOnItsPage = (id: number) => window.location.pathname === paths.backup(id);

/** Key of the toast, so that the outcome replaces the start. */
const jobOf = (id: number) => `restore ${id}`;

async function report(backup: Backup, undo: Undo): Promise<void> {
  const { id, configuration_id: configurationId } = backup;
  const job = jobOf(id);
  if (isOnItsPage(id)) return;
  if (backup.restore_status === "failed") {
    toast.failure(`Couldn't restore backup ${id}.`, lastLine(backup.restore_output), job);
    return;
  }
  const configuration =
    configurationId === undefined
      ? null
      : await queryClient
          .fetchQuery({ ...configurationQuery(configurationId), staleTime: 0 })
          .catch(() => null);
  const safety = configuration === null ? undefined : safetyOf(backup, configuration);
  if (configuration === null || safety === undefined)
    toast.success(`Backup ${id} restored.`, undefined, undefined, job);
  else
    toast.success(
      `Backup ${id} restored.`,
      `Previous data saved as backup ${safety.id}.`,
      // The user may have seen the outcome on the page, and started an undo already.
      canUndo(backup, safety, configuration)
        ? { label: "Undo restore", run: () => undo(safety, configuration) }
        : undefined,
      job,
    );
}

/** @param undo asks whether to undo the restore; offered once it has finished */
export function followRestore(id: number, undo: Undo): void {
  const started = isOnItsPage(id) ? null : toast.running(jobOf(id), `Restoring backup ${id}…`);
  const look = async (): Promise<void> => {
    const backup = await queryClient
      .fetchQuery({ ...backupQuery(id), staleTime: 0 })
      .catch((error: unknown) => {
        // A 401 or 404 ends the polling.
        if (!isPassing(error)) throw error;
        return null;
      });
    if (backup === null || isInTransit(backup.restore_status)) return lookAgain();
    if (started !== null && isOnItsPage(id)) dismissToast(started);
    await report(backup, undo);
  };
  const lookAgain = () => void setTimeout(() => void look().catch(() => undefined), lookMs);
  lookAgain();
}
