import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import { Crumbs } from "../../app/place/Crumbs.tsx";
import { paths } from "../../paths.ts";

type BackupCrumbsProps = {
  /** The backup of the parent page; absent on the backup's own page. */
  id?: number;
  configurationId: number | null;
  configuration: BackupConfiguration | undefined;
  serverId: number | null;
};

/** The breadcrumbs of a backup's page, or of a page below it. */
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
        ...(id === undefined ? [] : [{ label: `Backup ${id}`, to: paths.backup(id) }]),
      ]}
    />
  );
}
