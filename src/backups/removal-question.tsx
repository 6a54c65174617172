// The confirmation before a configuration is deleted. Loaded on demand.
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import { mutate } from "../api/mutate.ts";
import { confirm } from "../app/confirm.ts";
import { hasExtras } from "./backup-facts.ts";
import { removalChoices, removeMutation, toFiles } from "./removal.ts";

/** @param onRemoved called when the deletion has begun */
export function askRemoval(configuration: BackupConfiguration, onRemoved?: () => void): void {
  const { id, name, directory } = configuration;
  confirm({
    title: `Delete “${name}”?`,
    body: (
      <p>
        Deleting stops backups of the {configuration.type}{" "}
        <strong className="text-ink">{configuration.backupable.name}</strong> and deletes their
        schedule and history.
        {!hasExtras(configuration) && " The service doesn't say whether it keeps the stored files."}
      </p>
    ),
    ...(hasExtras(configuration) && { choices: removalChoices(`${directory}/${id}`) }),
    typed: name,
    action: "Delete",
    run: async (files) => {
      await mutate(removeMutation, { configuration, files: toFiles(files) });
      onRemoved?.();
    },
  });
}
