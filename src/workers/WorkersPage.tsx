// A site's workers: what each is doing, and the buttons to change it.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import { makePoller } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { Crumbs } from "../app/Crumbs.tsx";
import { siteName, siteQuery } from "../app/inventory.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { PageLinks } from "../app/PageLinks.tsx";
import { SiteTabs } from "../app/SiteTabs.tsx";
import { paths } from "../paths.ts";
import { EmptyState } from "../ui/EmptyState.tsx";
import { PageHeader } from "../ui/PageHeader.tsx";
import { Panel } from "../ui/Panel.tsx";
import { HeadCell, Table } from "../ui/Table.tsx";
import type { workersLoader } from "./loaders.ts";
import { workersQuery } from "./queries.ts";
import { WorkerRow } from "./WorkerRow.tsx";
import { Icon } from "../ui/Icon.tsx";

function NewWorkerLink({ siteId }: { siteId: number }) {
  return (
    <LinkButton to={paths.newWorker(siteId)} variant="primary">
      <Icon name="plus" />
      New worker
    </LinkButton>
  );
}

export function WorkersPage() {
  const { siteId, page } = useLoaderData<typeof workersLoader>();
  const [poll] = useState(() => makePoller());
  const { data: site } = useQuery(siteQuery(siteId));
  const { data: workers, meta } = useLoaded(workersQuery(siteId, page), (list) => poll(list.data));
  const name = siteName(siteId, site);

  return (
    <>
      <PageHeader
        title="Workers"
        context={[name]}
        crumbs={
          <Crumbs
            items={[
              { label: "Servers", to: paths.home() },
              { label: name, to: paths.workers(siteId) },
            ]}
          />
        }
        actions={<NewWorkerLink siteId={siteId} />}
      />
      <SiteTabs siteId={siteId} current="Workers" />
      <Panel>
        {workers.length > 0 && (
          <Table label="Workers">
            <thead>
              <tr>
                <HeadCell>
                  <span className="@max-2xl:sr-only">Worker</span>
                </HeadCell>
                <HeadCell>Status</HeadCell>
                <HeadCell from="md">Connection</HeadCell>
                <HeadCell from="sm">Queue</HeadCell>
                <HeadCell from="sm" align="end">
                  Processes
                </HeadCell>
                <HeadCell from="md" align="end">
                  Uptime
                </HeadCell>
                <HeadCell from="md" align="end">
                  Restarts
                </HeadCell>
                <HeadCell>
                  <span className="sr-only">Actions</span>
                </HeadCell>
              </tr>
            </thead>
            <tbody>
              {workers.map((worker) => (
                <WorkerRow key={worker.id} worker={worker} />
              ))}
            </tbody>
          </Table>
        )}
        {workers.length === 0 && page === 1 && (
          <EmptyState title="No workers yet" action={<NewWorkerLink siteId={siteId} />}>
            A worker takes jobs off a queue of this site and keeps running: what ends by itself is
            started again.
          </EmptyState>
        )}
        {workers.length === 0 && page > 1 && (
          <EmptyState
            title={`Nothing on page ${page}`}
            action={<LinkButton to={paths.workers(siteId)}>First page</LinkButton>}
          />
        )}
        <PageLinks meta={meta} pathOf={(number) => paths.workers(siteId, number)} />
      </Panel>
    </>
  );
}
