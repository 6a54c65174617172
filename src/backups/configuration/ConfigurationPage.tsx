// The page of a configuration: protection, next runs, and its backups.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { useLoaderData, useNavigate } from "react-router";
import { isFinishedRun, type BackupConfiguration } from "../../../contract/backups/backup.ts";
import { keepInWords } from "../../../contract/backups/keep-rules.ts";
import { countingFailedDrill } from "../../../contract/backups/protection.ts";
import { makePoller } from "../../api/poll.ts";
import { useLoaded } from "../../api/query.ts";
import { Crumbs } from "../../app/place/Crumbs.tsx";
import { serverQuery } from "../../app/inventory.ts";
import { leaveFor } from "../../app/routing/page-change.ts";
import { toast } from "../../app/toasts.ts";
import { paths } from "../../paths.ts";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { Properties, type Property } from "../../ui/page/Properties.tsx";
import { Time } from "../../ui/time/Time.tsx";
import { formatBytes, hasExtras, toMoving } from "../backup-facts.ts";
import { ConfigurationActions } from "../ConfigurationActions.tsx";
import { ConfigurationState, otherWarnings } from "../ConfigurationState.tsx";
import type { configurationLoader } from "../loaders.ts";
import { CopyMissingNotice } from "./CopyMissingNotice.tsx";
import { DrillFailedNotice } from "./DrillFailedNotice.tsx";
import { ExcludedList } from "../ExcludedList.tsx";
import { NextRuns } from "./NextRuns.tsx";
import { configurationQuery, countsQuery, scheduleQuery } from "../queries.ts";
import { RunList } from "./RunList.tsx";
import { StorageRoom } from "./StorageRoom.tsx";
import { useStorages } from "../storages.ts";
import { TableHistory } from "./TableHistory.tsx";
import { toSeries } from "./run-series.ts";
import { optionalPart } from "../../app/routing/optional-part.ts";
import { PartMissing } from "../../app/routing/PartMissing.tsx";

const RunHistory = optionalPart(
  async () => (await import("./RunHistory.tsx")).RunHistory,
  PartMissing,
);

/** The next runs come nearer although nothing else changes. */
const scheduleMs = 60_000;

/** The configuration itself gets id 0, which no backup has. */
const moving = ({ status, backups }: BackupConfiguration) => [
  { id: 0, status },
  ...backups.map(toMoving),
];

function excludeProperties({ exclude, exclude_caches: caches }: BackupConfiguration): Property[] {
  const lines = [...(exclude ?? []), ...(caches === true ? ["Folders with a CACHEDIR.TAG"] : [])];
  if (lines.length === 0) return [];
  return [{ term: "Exclude", value: <ExcludedList lines={lines} /> }];
}

function toProperties(
  configuration: BackupConfiguration,
  storage: string,
  second: string | null,
): Property[] {
  const { backupable, type, frequency, schedule_words: words, hold, drill } = configuration;
  const also = keepInWords(configuration.keep);
  const mono = (text: string) => <span className="font-mono text-xs">{text}</span>;
  return [
    { term: "Status", value: configuration.status },
    { term: "Source", value: `${backupable.name} (${type})` },
    { term: "Schedule", value: words ?? mono(frequency) },
    ...(words === undefined || configuration.adopted_at
      ? []
      : [{ term: "Cron expression", value: mono(frequency) }]),
    {
      term: "Keep last",
      value: configuration.adopted_at
        ? "All, until you edit the backup"
        : hold === null
          ? "Chosen by the service"
          : `${hold} finished ${hold === 1 ? "backup" : "backups"}`,
    },
    ...(also === null ? [] : [{ term: "Also keep", value: also }]),
    ...excludeProperties(configuration),
    { term: "Storage", value: storage },
    ...(second === null ? [] : [{ term: "Copy to", value: second }]),
    { term: "Directory", value: mono(configuration.directory || "–") },
    ...(configuration.compression_level
      ? [{ term: "Compression level", value: String(configuration.compression_level) }]
      : []),
    ...(configuration.incremental ? [{ term: "Incremental", value: "Yes" }] : []),
    ...(configuration.bytes_per_second
      ? [
          {
            term: "Bandwidth limit",
            value: `${formatBytes(configuration.bytes_per_second)} a second`,
          },
        ]
      : []),
    ...(hasExtras(configuration)
      ? [
          {
            term: "Restore drill",
            value: drill ? `Every ${drill === 1 ? "day" : `${drill} days`}` : "Never",
          },
          {
            term: "Last drill passed",
            value: configuration.last_proven_at ? (
              <Time value={configuration.last_proven_at} />
            ) : (
              "Not yet"
            ),
          },
        ]
      : []),
  ];
}

export function ConfigurationPage() {
  const { id, view, serverId } = useLoaderData<typeof configurationLoader>();
  const navigate = useNavigate();
  const [poll] = useState(() => makePoller());
  // Polling stops when the deletion begins: it would get a 404 before the list is shown.
  const [isLeaving, setIsLeaving] = useState(false);
  const configuration = useLoaded(configurationQuery(id), (now) => poll(moving(now)), isLeaving);
  const { data: server } = useQuery({ ...serverQuery(serverId ?? 0), enabled: serverId !== null });
  const storages = useStorages();
  const { data: schedule } = useQuery({
    ...scheduleQuery(configuration),
    enabled: !isLeaving,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => state.data !== null && scheduleMs,
  });

  const { data: counts } = useQuery({
    ...countsQuery(configuration),
    enabled: !isLeaving && hasExtras(configuration),
    placeholderData: keepPreviousData,
  });

  const { copy_storage_provider_id: copiesTo, copy_missing: missing } = configuration;
  const newestGood = configuration.backups.find(
    (backup) => isFinishedRun(backup) && !backup.damage,
  );
  const failedDrill = countingFailedDrill(configuration, newestGood?.id);
  const leave = () => {
    setIsLeaving(true);
    toast.success(`Deleting “${configuration.name}”.`);
    leaveFor(navigate, serverId === null ? paths.home() : paths.backups(serverId));
  };

  return (
    <>
      <PageHeader
        title={configuration.name}
        context={server ? [server.name] : []}
        crumbs={
          <Crumbs
            items={[
              { label: "Overview", to: paths.home() },
              ...(serverId === null
                ? []
                : [
                    {
                      label: `${server?.name ?? `Server ${serverId}`} backups`,
                      to: paths.backups(serverId),
                    },
                  ]),
            ]}
          />
        }
        state={
          <ConfigurationState
            configuration={configuration}
            // A notice below shows the full reason.
            reasonOf={configuration.status === "failed" ? "none" : "all"}
          />
        }
        actions={
          <ConfigurationActions configuration={configuration} look="words" onRemoved={leave} />
        }
      />
      {configuration.status === "failed" && configuration.status_reason && (
        <Notice tone="bad">
          <p className="whitespace-pre-wrap">{configuration.status_reason}</p>
        </Notice>
      )}
      {missing && <CopyMissingNotice configuration={configuration} missing={missing} />}
      {failedDrill && <DrillFailedNotice failed={failedDrill} />}
      {otherWarnings(configuration).map((warning) => (
        <Notice key={warning} tone="warn">
          <p>{warning}</p>
        </Notice>
      ))}
      <Panel title="History">
        {configuration.backups.length === 0 ? (
          <p className="px-4 py-3 text-muted max-sm:px-3">No runs yet.</p>
        ) : (
          // As high as the chart, which is loaded later.
          <div className="min-h-70 px-4 py-3 @max-md:min-h-75 max-sm:px-3">
            <Suspense>
              <RunHistory points={toSeries(configuration.backups)} />
            </Suspense>
          </div>
        )}
      </Panel>
      <RunList configuration={configuration} view={view} isLive={!isLeaving} />
      {counts && <TableHistory counts={counts} />}
      {schedule && !configuration.adopted_at && (
        <Panel title="Upcoming">
          <NextRuns schedule={schedule} />
          {!isLeaving && <StorageRoom configuration={configuration} />}
        </Panel>
      )}
      <Panel title="Settings">
        <Properties
          items={toProperties(
            configuration,
            storages.describe(configuration.storage_provider_id),
            copiesTo == null ? null : storages.describe(copiesTo),
          )}
        />
      </Panel>
    </>
  );
}
