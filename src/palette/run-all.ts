// Runs all backups of a server, and shows the result of each.
import {
  type BackupConfiguration,
  backupConfigurationStates,
  canBackupConfiguration,
} from "../../contract/backups/backup.ts";
import { isInTransit } from "../../contract/states.ts";
import { call } from "../api/client.ts";
import { fetchAllPages } from "../api/fetch-all-pages.ts";
import { largePageQuery } from "../api/page-query.ts";
import { invalidate, query, queryClient } from "../api/query.ts";
import { toast } from "../app/toasts.ts";
import { type BulkAction, begin } from "../bulk/bulk-task.ts";

/** Returns why a configuration cannot be run now. Unknown states are left to the service to judge. */
function refusal({ status, last_backup: last }: BackupConfiguration): string | undefined {
  const known = backupConfigurationStates.find((state) => state === status);
  if (known !== undefined && !canBackupConfiguration.run({ status: known }))
    return `Can't run while the status is ${status}.`;
  return isInTransit(last?.status) ? `Can't run while a backup is ${last?.status}.` : undefined;
}

const action = (server: string): BulkAction<BackupConfiguration> => ({
  label: "Run all backups",
  icon: "play",
  keys: "",
  title: (what) => `Run ${what} on ${server} now`,
  done: "pending",
  refusal,
  run: async ({ id }) => {
    await call("runBackup", { backupConfigurationId: id });
    await invalidate("listBackupConfigurations", "showBackupConfiguration", "listBackups");
  },
});

export async function runAll({ id, name }: { id: number; name: string }): Promise<void> {
  const list = await queryClient.fetchQuery({
    ...fetchAllPages<BackupConfiguration>((page) =>
      query("listBackupConfigurations", { id }, largePageQuery(page)),
    ),
    staleTime: 0,
  });
  if (list.data.length === 0) {
    toast.failure(`${name} has no backups to run.`, "Set one up on its backups page.");
    return;
  }
  await begin(action(name), {
    items: list.data,
    onDone: () => {},
    nameOf: (configuration) => configuration.name,
    detailOf: ({ type, backupable }) => `${type} ${backupable.name}`,
    one: "backup",
    many: "backups",
  });
}
