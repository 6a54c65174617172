import { type BackupConfiguration, isFinishedRun } from "../../../contract/backups/backup.ts";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { Time } from "../../ui/time/Time.tsx";
import { lackingCopy } from "../copies.ts";
import { CopyAgainButton } from "../CopyAgainButton.tsx";

/** Warns that the newest good backup is in one storage only, with a button that copies it. */
export function CopyMissingNotice({
  configuration,
  missing: { storage, since },
}: {
  configuration: BackupConfiguration;
  missing: NonNullable<BackupConfiguration["copy_missing"]>;
}) {
  const newest = configuration.backups.find((backup) => isFinishedRun(backup) && !backup.damage);
  const isLacking = newest !== undefined && lackingCopy(newest, configuration) !== null;
  return (
    <Notice tone="warn" actions={isLacking && <CopyAgainButton backupId={newest.id} />}>
      <p>
        Missing in {storage} for <Time value={since} format="duration" />. The newest backup is in
        one storage only.
      </p>
    </Notice>
  );
}
