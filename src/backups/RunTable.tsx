import { memo } from "react";
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import { Link } from "../app/Link.tsx";
import { paths } from "../paths.ts";
import { handFocusOn } from "../ui/hand-focus-on.ts";
import { IdText } from "../ui/IdText.tsx";
import { Cell, HeadCell, rowClass, Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { BackupActions } from "./BackupActions.tsx";
import { BackupBadge } from "./BackupBadge.tsx";
import { formatBytes, runDuration, triggerText } from "./backup-facts.ts";

type RunRowProps = { backup: Backup; configuration: BackupConfiguration };

/** What is known of the stored copy beyond "finished". */
function Marks({ backup }: { backup: Backup }) {
  const { damage, drill_status: drill, restore_status: restore, warnings = [] } = backup;
  const marks = [
    damage ? "damaged" : null,
    drill === "finished"
      ? "drill passed"
      : drill === null || drill === undefined
        ? null
        : `drill ${drill}`,
    restore === null ? null : `restore ${restore}`,
    warnings.length > 0 ? `${warnings.length} warning${warnings.length === 1 ? "" : "s"}` : null,
  ].filter((mark) => mark !== null);
  if (marks.length === 0) return null;
  return <p className={`mt-1 text-xs ${damage ? "text-bad" : "text-muted"}`}>{marks.join(", ")}</p>;
}

const RunRow = memo(function RunRow({ backup, configuration }: RunRowProps) {
  const { id, status, size, trigger, status_reason: reason } = backup;
  const isOver = status === "finished" || status === "failed";
  return (
    <tr ref={handFocusOn} className={rowClass}>
      <Cell>
        <Link
          to={paths.backup(id)}
          aria-label={`Backup ${id}`}
          className="inline-flex min-h-6 min-w-6 items-center font-medium underline decoration-edge underline-offset-4 hover:decoration-current"
        >
          <IdText id={id} />
        </Link>
      </Cell>
      <Cell>
        <BackupBadge backup={backup} />
        {status === "failed" && reason && (
          <p className="mt-1 line-clamp-2 max-w-72 text-xs @3xl:max-w-md wrap-anywhere text-bad">
            {reason}
          </p>
        )}
        <Marks backup={backup} />
        <p className="mt-1 text-xs text-muted @2xl:hidden">
          <Time value={backup.started_at} />
          {status === "finished" && (
            <>
              , <span className="whitespace-nowrap">{formatBytes(size)}</span>
            </>
          )}
        </p>
      </Cell>
      <Cell from="sm">
        <Time value={backup.started_at} />
      </Cell>
      <Cell from="md">{trigger === undefined ? "–" : triggerText(trigger)}</Cell>
      <Cell from="sm" align="end">
        {status === "finished" ? formatBytes(size) : "–"}
      </Cell>
      <Cell from="md" align="end">
        {isOver ? runDuration(backup) : "–"}
      </Cell>
      <Cell align="end">
        <div className="flex justify-end gap-0.5">
          <BackupActions backup={backup} configuration={configuration} look="icons" />
        </div>
      </Cell>
    </tr>
  );
});

export function RunTable({
  backups,
  configuration,
}: {
  backups: readonly Backup[];
  configuration: BackupConfiguration;
}) {
  return (
    <Table label="Backups">
      <thead>
        <tr>
          <HeadCell>Backup</HeadCell>
          <HeadCell>Status</HeadCell>
          <HeadCell from="sm">Started</HeadCell>
          <HeadCell from="md">Trigger</HeadCell>
          <HeadCell from="sm" align="end">
            Size
          </HeadCell>
          <HeadCell from="md" align="end">
            Duration
          </HeadCell>
          <HeadCell align="end">
            <span className="sr-only">Actions</span>
          </HeadCell>
        </tr>
      </thead>
      <tbody>
        {backups.map((backup) => (
          <RunRow key={backup.id} backup={backup} configuration={configuration} />
        ))}
      </tbody>
    </Table>
  );
}
