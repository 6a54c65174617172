// The page of a worker: state, actions, options, processes and log.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData, useNavigate } from "react-router";
import type { Worker } from "../../contract/workers/worker.ts";
import { workerName } from "../../contract/workers/worker-name.ts";
import { makePoller } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { Crumbs } from "../app/place/Crumbs.tsx";
import { siteName, siteQuery } from "../app/inventory.ts";
import { leaveFor } from "../app/routing/page-change.ts";
import { toast } from "../app/toasts.ts";
import { paths } from "../paths.ts";
import { CommandLine } from "../ui/text/CommandLine.tsx";
import { CopyButton } from "../ui/button/CopyButton.tsx";
import { linkClass } from "../ui/text/link-class.ts";
import { Notice } from "../ui/feedback/Notice.tsx";
import { PageHeader } from "../ui/page/PageHeader.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { Properties, type Property } from "../ui/page/Properties.tsx";
import { Time } from "../ui/time/Time.tsx";
import { toneText } from "../ui/feedback/tone.ts";
import type { workerLoader } from "./loaders.ts";
import { ProcessTable } from "./ProcessTable.tsx";
import { TakeOverNotice } from "./TakeOverNotice.tsx";
import { workerQuery } from "./queries.ts";
import { UsagePanel } from "./UsagePanel.tsx";
import { crashLoopOf, isLive } from "./worker-facts.ts";
import { markOf } from "./worker-mark.ts";
import { WithdrawButton } from "./WithdrawButton.tsx";
import { WorkerActions } from "./WorkerActions.tsx";
import { WorkerBadge } from "./WorkerBadge.tsx";
import { WorkerLog } from "./WorkerLog.tsx";

/** Processes end and restart without a change of the worker's status. */
const liveMs = 5_000;

const limit = (count: number, unit: string) => (count === 0 ? "No limit" : `${count}${unit}`);

/** Text of a number that was not set, and that the service does not return. */
const unsaid = "Chosen by the service";

const said = (count: number | null, unit = "") => (count === null ? unsaid : `${count}${unit}`);

const toProperties = (worker: Worker, account: string | null | undefined): Property[] => [
  // Shown where the badge differs from the status.
  ...(markOf(worker).word === worker.status ? [] : [{ term: "Status", value: worker.status }]),
  { term: "Connection", value: worker.connection },
  { term: "Queue", value: worker.queue },
  {
    term: "Directory",
    value: <span className="font-mono text-xs">{worker.directory || "–"}</span>,
  },
  ...(account ? [{ term: "Runs as", value: account }] : []),
  { term: "Sleep", value: `${worker.sleep} s` },
  { term: "Tries", value: limit(worker.tries, "") },
  { term: "Timeout", value: limit(worker.timeout, " s") },
  { term: "Memory", value: `${worker.memory} MB` },
  { term: "Max jobs", value: limit(worker.max_jobs, "") },
  { term: "Max time", value: limit(worker.max_time, " s") },
  { term: "Force", value: worker.force ? "yes" : "no" },
  { term: "Processes", value: said(worker.processes) },
  { term: "Start seconds", value: said(worker.startsecs, " s") },
  { term: "Start retries", value: said(worker.startretries) },
  { term: "Stop seconds", value: said(worker.stopwaitsecs, " s") },
  { term: "Stop signal", value: worker.stopsignal || unsaid },
  ...(worker.stopasgroup === undefined
    ? []
    : [{ term: "Stop as group", value: worker.stopasgroup ? "yes" : "no" }]),
  ...(worker.take_over?.status === "finished"
    ? [{ term: "Took over", value: `${worker.take_over.program} of supervisord` }]
    : []),
  { term: "Created", value: <Time value={worker.created_at} /> },
];

export function WorkerPage() {
  const { id, siteId } = useLoaderData<typeof workerLoader>();
  const navigate = useNavigate();
  const [poll] = useState(() => makePoller());
  const { data: site } = useQuery({ ...siteQuery(siteId ?? 0), enabled: siteId !== null });
  // Polling stops when the deletion begins: it would get a 404 before the list is shown.
  const [isLeaving, setIsLeaving] = useState(false);
  const worker = useLoaded(
    workerQuery(id),
    (now) =>
      poll([now, ...(now.take_over ? [{ id, ...now.take_over }] : [])], isLive(now) && liveMs),
    isLeaving,
  );

  const mark = markOf(worker);
  const isTrouble = worker.status === "unreachable" || mark.tone === "bad" || mark.tone === "warn";
  const loop = crashLoopOf(worker);
  const name = workerName(worker);
  const list = siteId === null ? paths.home() : paths.workers(siteId);
  const leave = () => {
    setIsLeaving(true);
    toast.success(`Deleting ${name}.`);
    leaveFor(navigate, list);
  };

  return (
    <>
      <PageHeader
        title={name}
        context={siteId === null ? [] : [siteName(siteId, site)]}
        crumbs={
          <Crumbs
            items={[
              { label: "Overview", to: paths.home() },
              ...(siteId === null
                ? []
                : [{ label: `${siteName(siteId, site)} workers`, to: paths.workers(siteId) }]),
            ]}
          />
        }
        state={
          <>
            <span className="text-sm text-muted">Worker {id}</span>
            <WorkerBadge worker={worker} />
            {/* Next to the title, where it appears and disappears without moving the page. */}
            <span className={`text-sm ${mark.note === null ? "text-muted" : toneText[mark.tone]}`}>
              {mark.note ?? (isTrouble ? null : mark.reason)}
            </span>
          </>
        }
        actions={<WorkerActions worker={worker} look="words" onRemoved={leave} />}
      />
      {isTrouble && mark.reason !== null && (
        <Notice
          tone={mark.tone === "bad" ? "bad" : "warn"}
          actions={worker.pending_status ? <WithdrawButton worker={worker} /> : undefined}
        >
          <p className="whitespace-pre-wrap">
            {mark.reason}
            {loop !== null && (
              <>
                {" "}
                Crash-looping since <Time value={loop.since} />. The state clears after 10 minutes
                without a crash, or when the worker is restarted.
              </>
            )}
          </p>
          {/* The current log is shown below. */}
          {mark.logTail !== null && (
            <details className="mt-1">
              <summary className={`${linkClass} w-fit cursor-pointer`}>
                Last lines of the log
              </summary>
              <pre className="mt-1 font-mono text-xs whitespace-pre-wrap">{mark.logTail}</pre>
            </details>
          )}
        </Notice>
      )}
      {worker.take_over != null && <TakeOverNotice takeOver={worker.take_over} />}
      {worker.process_list !== undefined && (
        <ProcessTable
          processes={worker.process_list}
          asked={worker.processes ?? 0}
          deployment={worker.deployment_id ?? null}
        />
      )}
      <WorkerLog
        key={id}
        id={id}
        name={name}
        isEnding={worker.status === "removing"}
        isLive={isLive(worker)}
      />
      <Panel
        title="Settings"
        actions={<CopyButton label="Copy command" text={() => worker.command} />}
      >
        <p className="border-b border-line bg-sunken px-4 py-3 max-sm:px-3">
          <CommandLine command={worker.command} />
        </p>
        <Properties items={toProperties(worker, site?.account)} />
      </Panel>
      {/* Last, because it appears after the page, if at all. */}
      <UsagePanel id={id} />
    </>
  );
}
