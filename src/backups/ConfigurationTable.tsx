import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import { Link } from "../app/Link.tsx";
import { selectColumn } from "../app/selection/SelectColumn.tsx";
import { paths } from "../paths.ts";
import { Icon } from "../ui/Icon.tsx";
import { actionsColumn, type Column, Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { BackupBadge } from "./BackupBadge.tsx";
import { formatBytes, runDuration } from "./backup-facts.ts";
import { ConfigurationActions } from "./ConfigurationActions.tsx";
import { ConfigurationBadge } from "./ConfigurationBadge.tsx";
import { ProtectionBadge } from "./ProtectionBadge.tsx";

type RowProps = { configuration: BackupConfiguration };

function Schedule({ configuration }: RowProps) {
  const { frequency, schedule_words: words, next_run_at: next } = configuration;
  return (
    <>
      <p>{words ?? <span className="font-mono text-xs wrap-anywhere">{frequency}</span>}</p>
      {next && (
        <p className="text-xs text-muted">
          next <Time value={next} />
        </p>
      )}
    </>
  );
}

function LastRun({ configuration }: RowProps) {
  const { last_backup: last } = configuration;
  if (last === null) return <span className="text-muted">Never</span>;
  const { id, status, started_at: at, size, trigger } = last;
  const details = [
    // A failed safety backup says nothing about scheduled runs.
    ...(trigger === "safety" ? ["before restore"] : []),
    ...(status === "finished" ? [formatBytes(size)] : []),
    ...(status === "finished" || status === "failed" ? [runDuration(last)] : []),
  ];
  return (
    <>
      <Link
        to={paths.backup(id)}
        aria-label={`Backup ${id}, ${status}`}
        className="inline-flex rounded-full align-middle"
      >
        <BackupBadge backup={last} />
      </Link>
      <p className="mt-1 flex flex-wrap gap-x-2 text-xs text-muted">
        <Time value={at} />
        {details.map((detail) => (
          <span key={detail} className="whitespace-nowrap">
            {detail}
          </span>
        ))}
      </p>
    </>
  );
}

/** Whether it protects and why, and what is odd although nothing failed. */
function Protection({ configuration }: RowProps) {
  const [first, ...others] = configuration.warnings ?? [];
  return (
    <div className="grid justify-items-start gap-1">
      <ProtectionBadge configuration={configuration} reasonOf="problems" />
      {first !== undefined && (
        <p className="flex gap-1 text-xs text-warn" data-tip={[first, ...others].join("\n")}>
          <Icon name="warning" />
          <span className="line-clamp-2 wrap-anywhere">
            {others.length === 0 ? first : `${others.length + 1} warnings: ${first}`}
          </span>
        </p>
      )}
    </div>
  );
}

/** Its own state, as long as that is news: being installed is as it should be. */
function State({ configuration }: RowProps) {
  const { status, status_reason: reason } = configuration;
  if (status === "installed") return null;
  return (
    <>
      <p className="mt-1">
        <ConfigurationBadge configuration={configuration} />
      </p>
      {reason && (
        <p
          className={`mt-1 line-clamp-3 text-xs wrap-anywhere ${status === "failed" ? "text-bad" : "text-muted"}`}
        >
          {reason}
        </p>
      )}
    </>
  );
}

/** With what a narrow table has no room for. */
function Name({ configuration }: RowProps) {
  const { id, name, type, backupable } = configuration;
  return (
    <>
      <Link
        to={paths.backupConfiguration(id)}
        className="inline-flex min-h-6 items-center font-medium wrap-anywhere underline decoration-edge underline-offset-4 hover:decoration-current"
      >
        {name}
      </Link>
      <p className="text-xs wrap-anywhere text-muted">
        {type} {backupable.name}
      </p>
      <State configuration={configuration} />
      <div className="mt-2 @3xl:hidden">
        <Schedule configuration={configuration} />
      </div>
      <div className="mt-2 grid gap-2 @2xl:hidden">
        <div>
          <p className="text-xs text-muted">Last run</p>
          <LastRun configuration={configuration} />
        </div>
        <Protection configuration={configuration} />
      </div>
    </>
  );
}

const columns: readonly Column<BackupConfiguration>[] = [
  selectColumn(({ name }) => name),
  { id: "name", header: "Backup", cell: (one) => <Name configuration={one} /> },
  {
    id: "schedule",
    header: "Schedule",
    from: "md",
    cell: (one) => <Schedule configuration={one} />,
  },
  {
    id: "last_run",
    header: "Last run",
    from: "sm",
    cell: (one) => (
      // Wide enough for any word, so that a change of state does not move the columns.
      <div className="w-36 @5xl:w-52">
        <LastRun configuration={one} />
      </div>
    ),
  },
  {
    id: "protection",
    header: "Protection",
    from: "sm",
    cell: (one) => (
      <div className="w-52">
        <Protection configuration={one} />
      </div>
    ),
  },
  actionsColumn((one) => (
    <div className="flex justify-end gap-0.5 @max-2xl:flex-col">
      <ConfigurationActions configuration={one} look="icons" />
    </div>
  )),
];

export const ConfigurationTable = ({
  configurations,
}: {
  configurations: readonly BackupConfiguration[];
}) => <Table label="Backups" columns={columns} rows={configurations} keyOf={({ id }) => id} />;
