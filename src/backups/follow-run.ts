// Reports the outcome of a run to a user who has left the pages that show it.
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import { isInTransit } from "../../contract/states.ts";
import { isPassing } from "../api/api-error.ts";
import { queryClient } from "../api/query.ts";
import { dismissToast, toast } from "../app/toasts.ts";
import { paths } from "../paths.ts";
import { brokenCopy } from "./copies.ts";
import { backupQuery } from "./queries.ts";

const lookMs = 2_000;

const lastLine = (text: string | null) => text?.trimEnd().split("\n").at(-1) ?? null;

function report({ id, status, output, ...backup }: Backup, name: string): void {
  const job = `run ${id}`;
  if (status === "finished" && brokenCopy(backup) !== undefined)
    toast.failure(`Backup of “${name}” is missing in its second storage.`, lastLine(output), job);
  else if (status === "finished")
    toast.success(`Backup of “${name}” finished.`, undefined, undefined, job);
  else toast.failure(`Backup of “${name}” failed.`, lastLine(output), job);
}

/** @param startedOn path of the page on which it was started */
export function followRun(
  { id }: Backup,
  { id: configurationId, name }: Pick<BackupConfiguration, "id" | "name">,
  startedOn: string,
): void {
  const pages = new Set([startedOn, paths.backup(id), paths.backupConfiguration(configurationId)]);
  let shown: number | null = null;
  const hide = () => {
    if (shown !== null) dismissToast(shown);
    shown = null;
  };

  async function look(): Promise<void> {
    const backup = await queryClient
      .fetchQuery({ ...backupQuery(id), staleTime: lookMs / 2, retry: false })
      .catch((error: unknown) => {
        if (isPassing(error)) return null;
        // The session has ended, or the backup was deleted: there is nothing to report.
        hide();
        throw error;
      });
    const isElsewhere = !pages.has(location.pathname);
    if (backup !== null && !isInTransit(backup.status) && backup.status !== "pending") {
      if (isElsewhere) report(backup, name);
      else hide();
      return;
    }
    if (!isElsewhere) hide();
    else shown ??= toast.running(`run ${id}`, `Backup of “${name}” running…`);
    lookAgain();
  }

  const lookAgain = () => void setTimeout(() => void look().catch(() => undefined), lookMs);
  lookAgain();
}
