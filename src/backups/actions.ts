// Actions on backup configurations, and why they may be impossible.
import {
  backupConfigurationStates,
  canBackupConfiguration,
  type Backup,
  type BackupConfiguration,
} from "../../contract/backups/backup.ts";
import { isInTransit } from "../../contract/states.ts";
import { call } from "../api/client.ts";
import { isLast, useMutation } from "../api/mutate.ts";
import { invalidate, patchAnswers } from "../api/query.ts";
import { toast } from "../app/toasts.ts";
import type { IconName } from "../ui/Icon.tsx";

export type ConfigurationAction = keyof typeof canBackupConfiguration;

type ActionFacts = { label: string; icon: IconName; key: string };

export const configurationActions: Record<ConfigurationAction, ActionFacts> = {
  run: { label: "Run now", icon: "play", key: "r" },
  update: { label: "Edit", icon: "edit", key: "e" },
  remove: { label: "Delete", icon: "trash", key: "#" },
};

const verbs = { run: "run", update: "edit", remove: "delete" } as const satisfies Record<
  ConfigurationAction,
  string
>;

type Facts = { status: string; last_backup: { status: string } | null };

/** Returns why an action is impossible now. Unknown states are left to the service to judge. */
export function refusal(
  action: ConfigurationAction,
  { status, last_backup: last }: Facts,
): string | undefined {
  const isKnown = backupConfigurationStates.some((known) => known === status);
  if (isKnown && !canBackupConfiguration[action]({ status }))
    return `Can't ${verbs[action]} while the status is ${status}.`;
  return action !== "update" && isInTransit(last?.status)
    ? `Can't ${verbs[action]} while a backup is ${last?.status}.`
    : undefined;
}

/** Updates a configuration in all cached responses. */
export function patchConfiguration(
  id: number,
  patch: (configuration: BackupConfiguration) => BackupConfiguration,
): void {
  const patchOne = (one: BackupConfiguration) => (one.id === id ? patch(one) : one);
  patchAnswers("showBackupConfiguration", patchOne);
  patchAnswers("listBackupConfigurations", (list) => ({ ...list, data: list.data.map(patchOne) }));
}

const runKey = ["run a configuration"];

/** Runs a backup. The caller reports errors. */
export const runMutation = {
  mutationKey: runKey,
  mutationFn: ({ id }: Pick<BackupConfiguration, "id">) =>
    call("runBackup", { backupConfigurationId: id }),
  // A run has no number before the service gives it one, so nothing is shown ahead of the answer.
  onSuccess: (backup: Backup | undefined, { id }: Pick<BackupConfiguration, "id">) => {
    if (backup === undefined) return;
    patchConfiguration(id, (before) => ({
      ...before,
      last_backup: backup,
      last_backup_at: backup.started_at,
      backups: [backup, ...before.backups.filter((other) => other.id !== backup.id)],
    }));
  },
  // Not awaited: polls pause during a mutation, which ends here.
  onSettled: () => {
    if (isLast(runKey))
      void invalidate("listBackupConfigurations", "showBackupConfiguration", "listBackups");
  },
};

/** Returns functions that stay the same over the life of the component. */
export function useConfigurationActions() {
  const { mutate: run, isPending: isStarting } = useMutation({
    ...runMutation,
    // The user may have left the page before the response.
    onMutate: () => location.pathname,
    onSuccess(backup: Backup | undefined, configuration: BackupConfiguration, startedOn: string) {
      runMutation.onSuccess(backup, configuration);
      if (backup !== undefined)
        void import("./follow-run.ts").then(({ followRun }) =>
          followRun(backup, configuration, startedOn),
        );
    },
    onError: (error, { name }) => toast.failure(`Couldn't run “${name}”.`, error),
  });
  return { run, isStarting };
}
