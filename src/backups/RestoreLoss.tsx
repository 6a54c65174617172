import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import { Time } from "../ui/Time.tsx";
import { formatBytes, hasExtras } from "./backup-facts.ts";

type SideProps = { title: string; at: string | null; bytes: number | null; note: string };

function Side({ title, at, bytes, note }: SideProps) {
  return (
    <div className="grid content-start gap-0.5 rounded-md border border-line px-3 py-2">
      <dt className="text-xs text-muted">{title}</dt>
      <dd className="font-medium text-ink">{at === null ? "unknown" : <Time value={at} />}</dd>
      <dd>{bytes === null ? "size unknown" : formatBytes(bytes)}</dd>
      <dd className="text-xs text-muted">{note}</dd>
    </div>
  );
}

/** What a restore puts in place of what: both sides, so that nobody mixes them up. */
export function RestoreLoss({
  backup,
  configuration,
}: {
  backup: Backup;
  configuration: BackupConfiguration | null;
}) {
  const newest = configuration?.backups.find(({ status }) => status === "finished") ?? null;
  const what =
    configuration === null
      ? "what it was made of"
      : `the ${configuration.type} ${configuration.backupable.name}`;
  return (
    <>
      <p>
        Everything in <strong className="text-ink">{what}</strong> is replaced by backup {backup.id}
        . What was written since is gone from there.
      </p>
      <dl className="grid gap-2 sm:grid-cols-2">
        <Side
          title="Comes back"
          at={backup.started_at}
          bytes={backup.size}
          note={`backup ${backup.id}, as stored`}
        />
        <Side
          title="Is replaced"
          at={newest?.started_at ?? null}
          bytes={newest?.size ?? null}
          note="what is there now, as of its last backup"
        />
      </dl>
      <p>
        {hasExtras(backup)
          ? "The stored file is read and compared with its checksum first."
          : "This service does not say whether it saves what is there now. To be able to go back, run a backup first."}
      </p>
    </>
  );
}
