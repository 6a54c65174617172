// A server's protection on the overview: unprotected sources with a link that helps, or one line if there are none.
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import { isWell } from "../../../contract/backups/protection.ts";
import { makePoller } from "../../api/poll.ts";
import { everySiteQuery } from "../../app/inventory.ts";
import { Link } from "../../app/Link.tsx";
import { ErrorText } from "../../app/ErrorText.tsx";
import { paths } from "../../paths.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Skeleton } from "../../ui/feedback/Skeleton.tsx";
import { LineDot } from "../../ui/feedback/StatusDot.tsx";
import { Time } from "../../ui/time/Time.tsx";
import { movingStatus } from "../backup-facts.ts";
import { protectionLook } from "../configuration-condition.ts";
import { protectionRows, type ProtectionRow, type Target } from "./protection-rows.ts";
import { everyConfigurationQuery, everyDatabaseQuery } from "../queries.ts";

/** The overview of many servers needs many requests; a run that is 30 s overdue is not late yet. */
const overviewMs = 30_000;

const count = (many: number, one: string, more: string) => `${many} ${many === 1 ? one : more}`;

/** Configurations and backups have separate ids, so those of configurations are negated. */
const moving = ({ id, status, last_backup: last }: BackupConfiguration) => [
  { id: -id, status },
  ...(last === null ? [] : [{ id: last.id, status: movingStatus(last) }]),
];

const Schedule = ({ configuration }: { configuration: BackupConfiguration }) =>
  configuration.schedule_words ?? <span className="font-mono">{configuration.frequency}</span>;

type RowProps = { row: ProtectionRow; serverId: number };

function Row({ row, serverId }: RowProps) {
  const { target, reason, warning, configuration, newestAt } = row;
  const nameId = useId();
  const cure =
    configuration === null
      ? { to: paths.newBackupConfiguration(serverId, target), label: "Set up backup" }
      : { to: paths.backupConfiguration(configuration.id), label: configuration.name };
  return (
    <li className="flex min-h-11 items-center gap-3 border-t border-line px-4 py-2 text-sm first:border-t-0 max-sm:px-3">
      <LineDot tone={protectionLook(row).tone} />
      <div className="min-w-0 flex-1">
        <p id={nameId} className="wrap-anywhere">
          <span className="text-muted">{target.type}</span>{" "}
          <span className="font-medium">{target.name}</span>
        </p>
        <p className="text-xs text-muted">
          {isWell(row) ? "Backed up" : (warning ?? reason)}
          {!isWell(row) && newestAt !== null && " Last good backup"}
          {newestAt !== null && (
            <>
              {" "}
              <Time value={newestAt} />
            </>
          )}
        </p>
      </div>
      <div className="max-w-[45%] min-w-0 text-end text-xs text-muted">
        <Link
          to={cure.to}
          aria-describedby={nameId}
          className="inline-flex min-h-6 max-w-full items-center text-sm text-ink underline decoration-edge underline-offset-4 hover:decoration-current"
        >
          <span className="truncate">{cure.label}</span>
        </Link>
        {configuration !== null && (
          <p className="max-sm:hidden">
            <Schedule configuration={configuration} />
          </p>
        )}
      </div>
    </li>
  );
}

type ListProps = { rows: readonly ProtectionRow[]; serverId: number };

const List = ({ rows, serverId }: ListProps) => (
  <ul>
    {rows.map((row) => (
      <Row key={`${row.target.type} ${row.target.id}`} row={row} serverId={serverId} />
    ))}
  </ul>
);

function Summary({ rows, serverId }: ListProps) {
  const problems = rows.filter((row) => !isWell(row));
  const good = rows.filter(isWell);
  return (
    <section aria-label="Protection">
      {problems.length > 0 && <List rows={problems} serverId={serverId} />}
      {good.length > 0 && (
        <details className="group border-t border-line first:border-t-0">
          <summary className="flex min-h-11 list-none items-center gap-3 px-4 py-2 text-sm -outline-offset-2 hover:bg-hover max-sm:px-3">
            <LineDot tone={problems.length === 0 ? "good" : "idle"} />
            {problems.length === 0
              ? `All protected: ${count(rows.length, "database or site", "databases and sites")}`
              : `${rows.filter(({ state }) => state === "protected").length} of ${rows.length} databases and sites protected`}
            <span className="ms-auto text-muted group-open:rotate-180">
              <Icon name="down" />
            </span>
          </summary>
          <div className="border-t border-line">
            <List rows={good} serverId={serverId} />
          </div>
        </details>
      )}
    </section>
  );
}

/** Shown inside the panel of its server. */
export function ProtectionPanel({ serverId: id }: { serverId: number }) {
  const [poll] = useState(() => makePoller());
  const databases = useQuery(everyDatabaseQuery(id));
  const sites = useQuery(everySiteQuery(id));
  const configurations = useQuery({
    ...everyConfigurationQuery(id),
    refetchInterval: ({ state }) => poll((state.data?.data ?? []).flatMap(moving), overviewMs),
  });
  const error = databases.error ?? sites.error ?? configurations.error;
  if (databases.data === undefined || sites.data === undefined || configurations.data === undefined)
    return (
      <p className="flex min-h-11 items-center px-4 text-sm text-muted max-sm:px-3">
        {error === null ? (
          <Skeleton width="w-40" />
        ) : (
          <span>
            Protection unknown: <ErrorText error={error} />
          </span>
        )}
      </p>
    );

  const toTarget =
    (type: Target["type"]) =>
    ({ id, name }: { id: number; name: string }): Target => ({ type, id, name });
  const targets = [
    ...(databases.data?.data.map(toTarget("database")) ?? []),
    ...(sites.data?.data.map(toTarget("site")) ?? []),
  ];
  // Judged at the time of the response, so that the text stays the same until the next poll.
  const rows = protectionRows(targets, configurations.data.data, configurations.dataUpdatedAt);
  if (rows.length === 0)
    return (
      <p className="flex min-h-11 items-center px-4 text-sm text-muted max-sm:px-3">
        Nothing to back up.
      </p>
    );
  return <Summary rows={rows} serverId={id} />;
}
