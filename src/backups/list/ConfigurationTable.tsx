import { Suspense } from "react";
import {
  type BackupConfiguration,
  backupConfigurationStates,
} from "../../../contract/backups/backup.ts";
import { Link } from "../../app/Link.tsx";
import { selectColumn } from "../../app/selection/SelectColumn.tsx";
import { optionalPart } from "../../app/routing/optional-part.ts";
import { paths } from "../../paths.ts";
import { actionsColumn, type Column, Table } from "../../ui/table/Table.tsx";
import { Time } from "../../ui/time/Time.tsx";
import { BackupBadge } from "../BackupBadge.tsx";
import { formatBytes, runDuration, sizeTrend } from "../backup-facts.ts";
import { ConfigurationActions } from "../ConfigurationActions.tsx";
import { ConfigurationState } from "../ConfigurationState.tsx";
import { workOf } from "../work.ts";

// Loaded on demand: most rows have nothing running.
const WorkProgress = optionalPart(async () => (await import("../WorkProgress.tsx")).WorkProgress);

const isKnownState = (status: string) =>
  backupConfigurationStates.some((known) => known === status);

type RowProps = { configuration: BackupConfiguration };

function Schedule({ configuration }: RowProps) {
  const { frequency, schedule_words: words, next_run_at: next } = configuration;
  return (
    <>
      <p>{words ?? <span className="font-mono text-xs wrap-anywhere">{frequency}</span>}</p>
      {next && (
        <p className="text-xs text-muted">
          next <Time value={next} format="coming" />
        </p>
      )}
    </>
  );
}

function LastRun({ configuration }: RowProps) {
  const { last_backup: last, backups } = configuration;
  if (last === null) return <span className="text-muted">Never</span>;
  const { id, status, started_at: at, size, trigger } = last;
  const work = workOf(configuration);
  const trend = sizeTrend(last, backups);
  const details = [
    // A failed safety backup says nothing about scheduled runs.
    ...(trigger === "safety" ? ["before restore"] : []),
    ...(status === "finished" ? [formatBytes(size)] : []),
    ...(trend === null ? [] : [trend]),
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
      {work !== null && (
        <Suspense>
          <WorkProgress work={work} backups={backups} />
        </Suspense>
      )}
      <p className="mt-1 flex flex-wrap gap-x-2 text-xs text-muted">
        <Time value={at} />
        {details.map((detail) => (
          <span key={detail}>{detail}</span>
        ))}
      </p>
    </>
  );
}

const State = ({ configuration }: RowProps) => (
  <div className="grid justify-items-start gap-1">
    <ConfigurationState configuration={configuration} reasonOf="problems" />
  </div>
);

/** The name, with the columns that a narrow table omits. */
function Name({ configuration }: RowProps) {
  const { id, name, type, backupable, status } = configuration;
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
        {/* States of other services are shown unchanged. */}
        {!isKnownState(status) && (
          <>
            , <span>{status}</span>
          </>
        )}
      </p>
      <div className="mt-2 @3xl:hidden">
        <Schedule configuration={configuration} />
      </div>
      <div className="mt-2 grid gap-2 @2xl:hidden">
        <div>
          <p className="text-xs text-muted">Last run</p>
          <LastRun configuration={configuration} />
        </div>
        <State configuration={configuration} />
      </div>
    </>
  );
}

const columns: readonly Column<BackupConfiguration>[] = [
  selectColumn(({ name }) => name),
  {
    id: "name",
    header: "Backup",
    cell: (one) => (
      <div className="@2xl:min-w-32">
        <Name configuration={one} />
      </div>
    ),
  },
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
      // Wide enough for any state, so that a change does not move the columns.
      <div className="w-36 @5xl:w-52">
        <LastRun configuration={one} />
      </div>
    ),
  },
  {
    id: "state",
    header: "Status",
    from: "sm",
    cell: (one) => (
      <div className="w-32 @4xl:w-52">
        <State configuration={one} />
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
