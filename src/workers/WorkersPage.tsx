// A site's workers: what each is doing, and the buttons to change it.
import { useQuery } from "@tanstack/react-query";
import { lazy, useState } from "react";
import { useLoaderData } from "react-router";
import { makePoller } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { AccountNotice } from "../app/AccountNotice.tsx";
import { siteName, siteQuery } from "../app/inventory.ts";
import { ListPage } from "../app/ListPage.tsx";
import { SiteTabs } from "../app/SiteTabs.tsx";
import { SelectAllCell } from "../app/selection/SelectCell.tsx";
import { paths } from "../paths.ts";
import { HeadCell, Table } from "../ui/Table.tsx";
import type { workersLoader } from "./loaders.ts";
import { workersQuery } from "./queries.ts";
import { WorkerRow } from "./WorkerRow.tsx";

const WorkerBulk = lazy(async () => ({
  default: (await import("./WorkerBulk.tsx")).WorkerBulk,
}));

export function WorkersPage() {
  const { siteId, page } = useLoaderData<typeof workersLoader>();
  const [poll] = useState(() => makePoller());
  const { data: site } = useQuery(siteQuery(siteId));
  const list = useLoaded(workersQuery(siteId, page), ({ data }) => poll(data));
  return (
    <ListPage
      title="Workers"
      place={{ name: siteName(siteId, site), to: paths.workers(siteId) }}
      tabs={
        <>
          <SiteTabs siteId={siteId} current="Workers" />
          <AccountNotice site={site} />
        </>
      }
      create={{ label: "New worker", to: paths.newWorker(siteId) }}
      list={list}
      bulk={WorkerBulk}
      page={page}
      pathOf={(number) => paths.workers(siteId, number)}
      empty={{
        title: "No workers yet",
        text: "A worker takes jobs off a queue of this site and keeps running: what ends by itself is started again.",
      }}
    >
      <Table label="Workers">
        <thead>
          <tr>
            <SelectAllCell count={list.data.length} />
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
          {list.data.map((worker) => (
            <WorkerRow key={worker.id} worker={worker} />
          ))}
        </tbody>
      </Table>
    </ListPage>
  );
}
