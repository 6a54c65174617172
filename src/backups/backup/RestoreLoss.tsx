import {
  isFinishedRun,
  type Backup,
  type BackupConfiguration,
} from "../../../contract/backups/backup.ts";
import { Time } from "../../ui/time/Time.tsx";
import { formatBytes, hasExtras } from "../backup-facts.ts";

type SideProps = { title: string; at: string | null; size: string; note: string };

function Side({ title, at, size, note }: SideProps) {
  return (
    <div className="grid content-start gap-0.5 rounded-md border border-line px-3 py-2">
      <dt className="text-xs text-muted">{title}</dt>
      <dd className="font-medium text-ink">{at === null ? "Unknown" : <Time value={at} />}</dd>
      <dd>{size}</dd>
      <dd className="text-xs text-muted">{note}</dd>
    </div>
  );
}

/** The newest run. An imported file says nothing about the present data. */
const newestOf = (configuration: BackupConfiguration | null): Backup | null =>
  configuration?.backups.find((one) => isFinishedRun(one) && one.trigger !== "import") ?? null;

/** Sizes of the content where both are known: an incremental file is small whatever it restores. */
function sizesOf(backup: Backup, newest: Backup | null): [restoring: string, replacing: string] {
  const both = newest === null ? [backup] : [backup, newest];
  const isPlain = both.every(({ plain_size: plain }) => plain);
  const [restoring = sizeUnknown, replacing = sizeUnknown] = both.map((one) =>
    isPlain ? `${formatBytes(one.plain_size ?? 0)} before compression` : formatBytes(one.size),
  );
  return [restoring, replacing];
}

const sizeUnknown = "Size unknown";

/** Shows what a restore replaces by what, side by side, so that nobody confuses them. */
export function RestoreLoss({
  backup,
  configuration,
}: {
  backup: Backup;
  configuration: BackupConfiguration | null;
}) {
  const newest = newestOf(configuration);
  const [restoring, replacing] = sizesOf(backup, newest);
  const what =
    configuration === null
      ? "its source"
      : `the ${configuration.type} ${configuration.backupable.name}`;
  return (
    <>
      <p>
        Backup {backup.id} replaces everything in <strong className="text-ink">{what}</strong>.
        Changes made since that backup are removed.
      </p>
      {backup.excluded && (
        <p>
          Files that the backup leaves out stay as they are now. They aren't part of the backup of
          current data either.
        </p>
      )}
      <dl className="grid gap-2 sm:grid-cols-2">
        <Side
          title="Restoring"
          at={backup.started_at}
          size={restoring}
          note={`Backup ${backup.id}`}
        />
        <Side
          title="Replacing"
          at={newest?.started_at ?? null}
          size={replacing}
          note={
            newest === null
              ? "Current data, no backup in this configuration"
              : "Current data, as of the last backup"
          }
        />
      </dl>
      <p>
        {hasExtras(backup)
          ? "Quarterdeck verifies the stored file against its checksum first."
          : "This service doesn't say whether it saves current data. To be able to undo the restore, run a backup first."}
      </p>
    </>
  );
}
