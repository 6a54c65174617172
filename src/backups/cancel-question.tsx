// Cancels the operation of a backup, after a confirmation that says what remains.
import { type Backup, runningWork } from "../../contract/backups/backup.ts";
import { call } from "../api/client.ts";
import { mutate } from "../api/mutate.ts";
import { confirm } from "../app/confirm.ts";
import { toast } from "../app/toasts.ts";
import { refreshBackups } from "./backup/backup-actions.ts";
import type { Work } from "./work.ts";

type CancelTexts = { title: string; action: string; left: string };

const texts: Record<Work["kind"], CancelTexts> = {
  run: {
    title: "Cancel the run of backup",
    action: "Cancel run",
    left: "The partial file is deleted. Earlier backups are kept.",
  },
  restore: {
    title: "Cancel the restore of backup",
    action: "Cancel restore",
    left: "Current data stays unchanged. A restore in its last step can't be canceled and will finish. If current data was already backed up, that backup is kept.",
  },
  drill: {
    title: "Cancel the restore drill of backup",
    action: "Cancel drill",
    left: "The scratch copy is deleted. The backup and its source stay unchanged.",
  },
};

const cancelMutation = {
  mutationFn: (id: number) => call("cancelBackup", { id }),
  onSettled: refreshBackups,
};

export function askCancel(backup: Backup): void {
  const { id } = backup;
  const { title, action, left } = texts[runningWork(backup) ?? "run"];
  confirm({
    title: `${title} ${id}?`,
    body: <p>{left}</p>,
    action,
    run: async () => {
      await mutate(cancelMutation, id);
      toast.success(`Canceling backup ${id}.`);
    },
  });
}
