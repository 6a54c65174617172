import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import { Crumbs } from "../../app/Crumbs.tsx";
import { paths } from "../../paths.ts";

type BackupCrumbsProps = {
  id: number;
  configurationId: number | null;
  configuration: BackupConfiguration | undefined;
  serverId: number | null;
};

/** The way to a page below a backup's own. */
export function BackupCrumbs({ id, configurationId, configuration, serverId }: BackupCrumbsProps) {
  return (
    <Crumbs
      items={[
        { label: "Overview", to: paths.home() },
        ...(serverId === null ? [] : [{ label: "Backups", to: paths.backups(serverId) }]),
        ...(configurationId === null
          ? []
          : [
              {
                label: configuration?.name ?? `Configuration ${configurationId}`,
                to: paths.backupConfiguration(configurationId),
              },
            ]),
        { label: `Backup ${id}`, to: paths.backup(id) },
      ]}
    />
  );
}
