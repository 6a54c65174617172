// What can be done to a backup configuration, and why it sometimes cannot.
import { useMutation } from "@tanstack/react-query";
import {
  backupConfigurationStates,
  canBackupConfiguration,
  type BackupConfiguration,
} from "../../contract/backups/backup.ts";
import { isInTransit } from "../../contract/states.ts";
import { messageOf } from "../api/api-error.ts";
import { call } from "../api/client.ts";
import { invalidate } from "../api/query.ts";
import { toast } from "../app/toasts.ts";

export type ConfigurationAction = keyof typeof canBackupConfiguration;

export const configurationActionLabels: Record<ConfigurationAction, string> = {
  run: "Run now",
  update: "Edit",
  remove: "Delete",
};

/** Why an action cannot be asked for now. A state that only the service knows is its own to judge. */
export function refusal(
  action: ConfigurationAction,
  { status, last_backup: last }: BackupConfiguration,
): string | undefined {
  const label = configurationActionLabels[action];
  const isKnown = (backupConfigurationStates as readonly string[]).includes(status);
  if (isKnown && !canBackupConfiguration[action]({ status }))
    return `${label} is not possible while the status is ${status}.`;
  return action !== "update" && isInTransit(last?.status)
    ? `${label} is not possible while a backup of it is ${last?.status}.`
    : undefined;
}

const refresh = () =>
  invalidate("listBackupConfigurations", "showBackupConfiguration", "listBackups");

/** Runs and deletes configurations. The functions stay the same over the life of the component. */
export function useConfigurationActions() {
  const { mutate: run } = useMutation({
    mutationFn: ({ id }: BackupConfiguration) => call("runBackup", { backupConfigurationId: id }),
    // The row shows the waiting run once the service has given it its number.
    onSettled: refresh,
    onError: (error, { name }) => toast.failure(`“${name}” was not run.`, messageOf(error)),
  });
  const { mutateAsync: remove } = useMutation({
    mutationFn: ({ id, files }: { id: number; files: "keep" | "remove" }) =>
      call("deleteBackupConfiguration", { id }, files === "remove" ? { query: { files } } : {}),
    // What was deleted is soon not there any more, and asking for it would end on "Not found".
    onSettled: () => invalidate("listBackupConfigurations"),
  });
  return { run, remove };
}
