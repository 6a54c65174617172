import { useMemo } from "react";
import {
  type Backup,
  type BackupConfiguration,
  runningWork,
} from "../../../contract/backups/backup.ts";
import { countOf } from "../../../contract/count-text.ts";
import { Link } from "../../app/Link.tsx";
import { paths } from "../../paths.ts";
import { IdText } from "../../ui/text/IdText.tsx";
import { actionsColumn, type Column, Table } from "../../ui/table/Table.tsx";
import { Time } from "../../ui/time/Time.tsx";
import { isLocked } from "../backup/backup-actions.ts";
import { BackupActions } from "../backup/BackupActions.tsx";
import { BackupBadge } from "../BackupBadge.tsx";
import { formatBytes, runDuration, triggerText } from "../backup-facts.ts";
import { brokenCopy } from "../copies.ts";
import { WorkProgress } from "../WorkProgress.tsx";

/** Details of a backup beyond its status. */
function Marks({ backup, showsKind }: { backup: Backup; showsKind: boolean }) {
  const { damage, drill_status: drill, restore_status: restore, warnings = [] } = backup;
  const broken = brokenCopy(backup);
  const kind =
    showsKind && backup.status === "finished" ? (backup.base_id ? "incremental" : "full") : null;
  const bad = [
    damage ? "damaged" : null,
    broken === undefined ? null : broken.status === "damaged" ? "copy damaged" : "copy missing",
    drill === "failed" ? "drill failed" : null,
  ].filter((mark) => mark !== null);
  const others = [
    kind,
    backup.pinned_at ? "pinned" : null,
    isLocked(backup) ? "locked" : null,
    drill === "finished"
      ? "drill passed"
      : drill === null || drill === undefined || drill === "failed"
        ? null
        : `drill ${drill}`,
    restore === null ? null : `restore ${restore}`,
    warnings.length > 0 ? countOf(warnings.length, "warning") : null,
  ].filter((mark) => mark !== null);
  if (bad.length + others.length === 0) return null;
  return (
    <p className="mt-1 text-xs text-muted">
      {bad.length > 0 && <span className="text-bad">{bad.join(", ")}</span>}
      {bad.length > 0 && others.length > 0 && ", "}
      {others.join(", ")}
    </p>
  );
}

type StatusProps = {
  backup: Backup;
  configuration: Pick<BackupConfiguration, "backups" | "incremental">;
};

function Status({ backup, configuration: { backups, incremental } }: StatusProps) {
  const { status, status_reason: reason, started_at: at, size } = backup;
  const kind = runningWork(backup);
  return (
    <>
      <BackupBadge backup={backup} />
      {kind !== null && (
        <div className="max-w-52">
          <WorkProgress work={{ backup, kind }} backups={backups} />
        </div>
      )}
      {status === "failed" && reason && (
        <p className="mt-1 line-clamp-2 max-w-72 text-xs @3xl:max-w-md wrap-anywhere text-bad">
          {reason}
        </p>
      )}
      <Marks backup={backup} showsKind={incremental === true || backup.base_id != null} />
      {/* The columns that a narrow table omits. */}
      <p className="mt-1 text-xs text-muted @2xl:hidden">
        <Time value={at} />
        {status === "finished" && (
          <>
            , <span className="whitespace-nowrap">{formatBytes(size)}</span>
          </>
        )}
      </p>
    </>
  );
}

const isOver = ({ status }: Backup) => status === "finished" || status === "failed";

const makeColumns = (configuration: BackupConfiguration): readonly Column<Backup>[] => [
  {
    id: "backup",
    header: "Backup",
    cell: ({ id }) => (
      <Link
        to={paths.backup(id)}
        aria-label={`Backup ${id}`}
        className="inline-flex min-h-6 min-w-6 items-center font-medium underline decoration-edge underline-offset-4 hover:decoration-current"
      >
        <IdText id={id} />
      </Link>
    ),
  },
  {
    id: "status",
    header: "Status",
    cell: (backup) => <Status backup={backup} configuration={configuration} />,
  },
  {
    id: "started",
    header: "Started",
    from: "sm",
    cell: ({ started_at: at }) => <Time value={at} />,
  },
  {
    id: "trigger",
    header: "Trigger",
    from: "md",
    cell: ({ trigger }) => (trigger === undefined ? "–" : triggerText(trigger)),
  },
  {
    id: "size",
    header: "Size",
    from: "sm",
    align: "end",
    cell: ({ status, size }) => (status === "finished" ? formatBytes(size) : "–"),
  },
  {
    id: "duration",
    header: "Duration",
    from: "md",
    align: "end",
    cell: (backup) => (isOver(backup) ? runDuration(backup) : "–"),
  },
  actionsColumn((backup) => (
    <div className="flex justify-end gap-0.5">
      <BackupActions backup={backup} configuration={configuration} look="icons" />
    </div>
  )),
];

export function RunTable({
  backups,
  configuration,
}: {
  backups: readonly Backup[];
  configuration: BackupConfiguration;
}) {
  const columns = useMemo(() => makeColumns(configuration), [configuration]);
  return <Table label="Backups" columns={columns} rows={backups} keyOf={({ id }) => id} />;
}
