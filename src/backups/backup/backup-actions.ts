// Actions on backups, and why they may be impossible.
import { useMutation } from "../../api/mutate.ts";
import {
  backupStates,
  canBackup,
  runningWork,
  type Backup,
} from "../../../contract/backups/backup.ts";
import { backupExtras } from "../../../contract/backups/operations.ts";
import { pathOf } from "../../../contract/operation.ts";
import { isInTransit } from "../../../contract/states.ts";
import { utcText } from "../../../contract/values.ts";
import { call } from "../../api/client.ts";
import { invalidate, queryClient } from "../../api/query.ts";
import { sessions } from "../../api/session.ts";
import { toast } from "../../app/toasts.ts";
import { serviceNow } from "../../service-clock.ts";

export type BackupAction =
  | "restore"
  | "elsewhere"
  | "download"
  | "drill"
  | "pin"
  | "unpin"
  | "cancel"
  | "remove";

export const backupActionLabels: Record<BackupAction, string> = {
  restore: "Restore",
  elsewhere: "Restore elsewhere",
  download: "Download",
  drill: "Restore drill",
  pin: "Pin",
  unpin: "Unpin",
  cancel: "Cancel",
  remove: "Delete",
};

const verbs = {
  restore: "restore",
  elsewhere: "restore",
  download: "download",
  drill: "run a drill",
  pin: "pin",
  unpin: "unpin",
  cancel: "cancel",
  remove: "delete",
} as const satisfies Record<BackupAction, string>;

type Facts = Pick<
  Backup,
  "status" | "restore_status" | "drill_status" | "pinned_at" | "locked_until"
>;

/** Whether its storage still refuses to delete it. */
export const isLocked = ({ locked_until: until }: Pick<Backup, "locked_until">): boolean =>
  until != null && Date.parse(until) > serviceNow();

/** Returns why an action is impossible now. Unknown states are left to the service to judge. */
export function refusal(action: BackupAction, backup: Facts): string | undefined {
  if (action === "cancel")
    return runningWork(backup) === null ? "Can't cancel: nothing is running." : undefined;
  if (action === "unpin") return undefined;
  const { status, restore_status: restore, drill_status: drill } = backup;
  // Several readers can use a file at once.
  const isFree = action === "download" || action === "pin";
  if (isInTransit(restore) && !isFree) return `Can't ${verbs[action]} during a restore.`;
  if (isInTransit(drill) && !isFree) return `Can't ${verbs[action]} during a restore drill.`;
  if (action === "remove" && backup.pinned_at)
    return "Can't delete: the backup is pinned. Unpin it first.";
  if (action === "remove" && backup.locked_until && isLocked(backup))
    return `Can't delete: the storage has locked the backup until ${utcText(new Date(backup.locked_until))}.`;
  const isKnown = backupStates.some((known) => known === status);
  const isAllowed =
    action === "remove" ? canBackup.remove : action === "pin" ? canBackup.pin : canBackup.restore;
  return !isKnown || isAllowed({ status })
    ? undefined
    : `Can't ${verbs[action]} while the status is ${status}.`;
}

/** Refetches everything that shows a backup. */
export const refreshBackups = () =>
  invalidate("showBackup", "showBackupConfiguration", "listBackups", "listBackupConfigurations");

/**
 * Downloads a backup's file with the browser's download manager, by a link that works once, so that the token appears
 * in no URL.
 * @throws ApiError, e.g. where the stored file is missing
 */
async function downloadBackup({ id, path }: Backup): Promise<void> {
  const { url } = await call("createDownloadLink", { id });
  // Uses the address by which this page reaches the service, which behind a proxy may differ from the service's own.
  const address = sessions.current()?.address ?? "";
  const link = document.createElement("a");
  link.href = `${address}${pathOf(backupExtras.downloadBackup, { id })}${new URL(url, location.href).search}`;
  link.download = path.split("/").at(-1) ?? "";
  link.click();
}

export function useBackupActions() {
  const remove = useMutation({
    mutationFn: (id: number) => call("deleteBackup", { id }),
    // A running poll would end with a 404.
    onMutate: () => queryClient.cancelQueries({ queryKey: ["showBackup"] }),
    // The backup is not refetched, because that would end with a 404. Not awaited, because the page is left at once.
    onSettled: () => void invalidate("showBackupConfiguration", "listBackups"),
  });
  const drill = useMutation({
    mutationFn: (id: number) => call("drillBackup", { id }),
    onSettled: refreshBackups,
    onError: (error, id) => toast.failure(`Couldn't start the drill of backup ${id}.`, error),
  });
  const pin = useMutation({
    mutationFn: ({ id, isPinned }: { id: number; isPinned: boolean }) =>
      call(isPinned ? "pinBackup" : "unpinBackup", { id }),
    onSuccess: (_, { id, isPinned }) =>
      toast.success(`Backup ${id} ${isPinned ? "pinned" : "unpinned"}.`),
    onSettled: async () => {
      await Promise.all([refreshBackups(), invalidate("showBackupSchedule")]);
    },
    onError: (error, { id, isPinned }) =>
      toast.failure(`Couldn't ${isPinned ? "pin" : "unpin"} backup ${id}.`, error),
  });
  const download = useMutation({
    mutationFn: downloadBackup,
    onSuccess: (_, { id }) => toast.success(`Download of backup ${id} started.`),
    onError: (error, { id }) => toast.failure(`Couldn't download backup ${id}.`, error),
  });
  return {
    remove: remove.mutateAsync,
    drill: drill.mutate,
    pin: pin.mutate,
    isPinning: pin.isPending,
    download: download.mutate,
    isDownloading: download.isPending,
  };
}
