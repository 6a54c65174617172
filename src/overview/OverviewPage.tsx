// The start page: protection, workers and deliveries over all servers, with a list of problems.
import { useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "react-router";
import { makePoller } from "../api/poll.ts";
import { isWhole, overviewMs, overviewQuery, type WholeOverview } from "../app/inventory.ts";
import { DocsLink } from "../ui/text/DocsLink.tsx";
import { EmptyState } from "../ui/feedback/EmptyState.tsx";
import { PageHeader } from "../ui/page/PageHeader.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { LineDot } from "../ui/feedback/StatusDot.tsx";
import { calmText } from "./calm.ts";
import { Figures } from "./Figures.tsx";
import { figuresOf } from "./figures.ts";
import { FirstSteps } from "./FirstSteps.tsx";
import { ProblemList } from "./ProblemList.tsx";
import { groupsOf, problemKinds, type ProblemKind } from "./problems.ts";
import { RunningList } from "./RunningList.tsx";
import { ServerList } from "./ServerList.tsx";

const isKind = (text: string | null): text is ProblemKind =>
  problemKinds.some((kind) => kind === text);

function useShown(): ProblemKind | null {
  const show = new URLSearchParams(useLocation().search).get("show");
  return isKind(show) ? show : null;
}

function Calm({ overview }: { overview: WholeOverview }) {
  const text = calmText(overview);
  if (text === null) return null;
  return (
    <Panel>
      <p className="flex min-h-12 items-center gap-3 px-4 py-2 text-sm max-sm:px-3">
        <LineDot tone="good" />
        {text}
      </p>
    </Panel>
  );
}

export function OverviewPage({ loaded }: { loaded: WholeOverview }) {
  const [poll] = useState(() => makePoller());
  const { data } = useQuery({
    ...overviewQuery(),
    refetchInterval: ({ state }) =>
      poll(
        (state.data?.running ?? []).map(({ backup_id: id }) => ({ id, status: "running" })),
        overviewMs,
      ),
  });
  const shown = useShown();
  // During an upgrade, an older service may respond to a poll.
  const overview = isWhole(data) ? data : loaded;
  const groups = groupsOf(overview);
  return (
    <>
      <PageHeader title="Overview" />
      <FirstSteps overview={overview} />
      {overview.servers.length === 0 ? (
        <Panel>
          <EmptyState title="No servers">
            Add servers and sites to the service&apos;s inventory file to see them here.{" "}
            <DocsLink page="inventory">Inventory reference</DocsLink>
          </EmptyState>
        </Panel>
      ) : (
        <>
          <Figures figures={figuresOf(overview)} shown={shown} />
          {groups.length === 0 && shown === null && <Calm overview={overview} />}
          <ProblemList groups={groups} shown={shown} />
          <RunningList runs={overview.running ?? []} />
          {shown === null && <ServerList servers={overview.servers} />}
        </>
      )}
    </>
  );
}
