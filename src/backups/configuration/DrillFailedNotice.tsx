import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import { paths } from "../../paths.ts";
import { LinkButton } from "../../app/LinkButton.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { Time } from "../../ui/time/Time.tsx";

/** Warns that a backup failed its restore drill, and leads to the drill's output. */
export function DrillFailedNotice({
  failed: { backup_id: id, at },
}: {
  failed: NonNullable<BackupConfiguration["failed_drill"]>;
}) {
  return (
    <Notice
      tone="warn"
      actions={
        <LinkButton size="sm" to={paths.backup(id)}>
          Open backup {id}
        </LinkButton>
      }
    >
      <p>
        Backup {id} failed its restore drill <Time value={at} />. A restore may fail, or lack data.
        The backup&apos;s page shows what the drill found.
      </p>
    </Notice>
  );
}
