import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import { mutate } from "../../api/mutate.ts";
import { BulkBar, type BulkProps } from "../../bulk/BulkBar.tsx";
import { type BulkAction, goneIsDone } from "../../bulk/bulk-task.ts";
import {
  type ConfigurationAction,
  configurationActions,
  refusal,
  runMutation,
} from "../actions.ts";
import { hasExtras, movingStatus } from "../backup-facts.ts";
import { removalChoices, removeMutation, toFiles } from "../removal.ts";

const toBulk = (action: ConfigurationAction) => {
  const { label, icon, key } = configurationActions[action];
  return {
    label,
    icon,
    keys: key,
    refusal: (configuration: BackupConfiguration) => refusal(action, configuration),
  };
};

function Loss({ configurations }: { configurations: readonly BackupConfiguration[] }) {
  const names = new Set(configurations.map(({ type, backupable }) => `${type} ${backupable.name}`));
  return (
    <p>
      Deleting stops backups of{" "}
      <strong className="wrap-anywhere text-ink">
        {new Intl.ListFormat("en").format([...names])}
      </strong>{" "}
      and deletes their schedules and history.
      {!configurations.every(hasExtras) &&
        " The service doesn't say whether it keeps the stored files."}
    </p>
  );
}

const actions: readonly BulkAction<BackupConfiguration>[] = [
  {
    ...toBulk("run"),
    title: (what) => `Run ${what} now`,
    done: "pending",
    run: (configuration) => mutate(runMutation, configuration),
    // The action started a run, which is the newest one.
    seen: ({ last_backup: last }) => ({
      status: last === null ? undefined : movingStatus(last),
      reason: last?.status_reason,
    }),
  },
  {
    ...toBulk("remove"),
    title: (what) => `Delete ${what}`,
    done: "removing",
    question: (configurations) => ({
      body: <Loss configurations={configurations} />,
      ...(configurations.every(hasExtras) && { choices: removalChoices("their directories") }),
      typed: `delete ${configurations.length}`,
    }),
    run: (configuration, files) =>
      goneIsDone(mutate(removeMutation, { configuration, files: toFiles(files) })),
  },
];

export function ConfigurationBulk(props: BulkProps<BackupConfiguration>) {
  return (
    <BulkBar
      {...props}
      nameOf={({ name }) => name}
      detailOf={({ type, backupable }) => `${type} ${backupable.name}`}
      one="backup"
      many="backups"
      failed="failed,failing"
      actions={actions}
    />
  );
}
