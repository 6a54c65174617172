// Cancels the operation of a backup, after a confirmation that says what remains.
import { QueryObserver } from "@tanstack/react-query";
import { type Backup, runningWork } from "../../contract/backups/backup.ts";
import { call } from "../api/client.ts";
import { mutate } from "../api/mutate.ts";
import { queryClient } from "../api/query.ts";
import { confirm, type Question, question } from "../app/confirm.ts";
import { toast } from "../app/toasts.ts";
import { refreshBackups } from "./backup/backup-actions.ts";
import { backupQuery } from "./queries.ts";
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

const lookMs = 2_000;

export function askCancel(backup: Backup): void {
  const { id } = backup;
  const kind = runningWork(backup) ?? "run";
  const { title, action, left } = texts[kind];
  let isCanceling = false;
  const asked: Question = {
    title: `${title} ${id}?`,
    body: <p>{left}</p>,
    action,
    run: async () => {
      isCanceling = true;
      try {
        await mutate(cancelMutation, id);
        toast.success(`Canceling backup ${id}.`);
      } finally {
        isCanceling = false;
      }
    },
  };
  confirm(asked);
  // The question is closed once the operation has ended by itself.
  const watch = new QueryObserver(queryClient, { ...backupQuery(id), refetchInterval: lookMs });
  const askedMs = Date.now();
  const stopWatching = watch.subscribe(({ data, dataUpdatedAt }) => {
    // A response cached earlier may be older than the operation.
    if (isCanceling || data === undefined || dataUpdatedAt < askedMs) return;
    if (runningWork(data) === kind) return;
    question.set(null);
    toast.success(`Nothing to cancel: the ${kind} of backup ${id} has ended.`);
  });
  const stop = question.subscribe(() => {
    stopWatching();
    stop();
  });
}
