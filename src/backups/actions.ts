// What can be done to a backup configuration, and why it sometimes cannot.
import { useMutation } from "@tanstack/react-query";
import {
  backupConfigurationStates,
  canBackupConfiguration,
  type BackupConfiguration,
} from "../../contract/backups/backup.ts";
import { isInTransit } from "../../contract/states.ts";
import { call } from "../api/client.ts";
import { invalidate, patchAnswers, queryClient } from "../api/query.ts";
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

/** Changes a configuration wherever the cache holds it. */
function patchConfiguration(
  id: number,
  patch: (configuration: BackupConfiguration) => BackupConfiguration,
): void {
  const patchOne = (one: BackupConfiguration) => (one.id === id ? patch(one) : one);
  patchAnswers("showBackupConfiguration", patchOne);
  patchAnswers("listBackupConfigurations", (list) => ({ ...list, data: list.data.map(patchOne) }));
}

type Removal = { configuration: BackupConfiguration; files: "keep" | "remove" };

/** Runs and deletes configurations. The functions stay the same over the life of the component. */
export function useConfigurationActions() {
  const { mutate: run, isPending: isStarting } = useMutation({
    mutationFn: ({ id }: BackupConfiguration) => call("runBackup", { backupConfigurationId: id }),
    // A run has no number before the service gives it one, so nothing is shown ahead of the answer.
    onSuccess: (backup, { id }) => {
      if (backup === undefined) return;
      patchConfiguration(id, (before) => ({
        ...before,
        last_backup: backup,
        last_backup_at: backup.started_at,
        backups: [backup, ...before.backups.filter((other) => other.id !== backup.id)],
      }));
    },
    onError: (error, { name }) => toast.failure(`“${name}” was not run.`, error),
    // Not awaited: polls rest while a mutation is under way, and this one ends here.
    onSettled: () =>
      void invalidate("listBackupConfigurations", "showBackupConfiguration", "listBackups"),
  });
  const { mutateAsync: remove } = useMutation({
    mutationFn: ({ configuration: { id }, files }: Removal) =>
      call("deleteBackupConfiguration", { id }, files === "remove" ? { query: { files } } : {}),
    onMutate: async ({ configuration: { id } }) => {
      // An answer that is on its way knows nothing of this.
      await Promise.all(
        ["listBackupConfigurations", "showBackupConfiguration"].map((name) =>
          queryClient.cancelQueries({ queryKey: [name] }),
        ),
      );
      patchConfiguration(id, (before) => ({ ...before, status: "removing" }));
    },
    // The dialog that asked says what went wrong. Only our own guess goes back.
    onError: (_error, { configuration: { id, status } }) =>
      patchConfiguration(id, (now) => (now.status === "removing" ? { ...now, status } : now)),
    onSettled: (_answer, error) => {
      void invalidate("listBackupConfigurations");
      // What was deleted is soon not there any more, and asking for it would end on "Not found".
      if (error !== null) void invalidate("showBackupConfiguration");
    },
  });
  return { run, isStarting, remove };
}
