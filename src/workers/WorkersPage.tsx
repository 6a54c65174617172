// A site's workers, with their state and actions.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import type { ListView } from "../api/list-query.ts";
import { makePoller } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { AccountNotice } from "../app/AccountNotice.tsx";
import { siteName, siteQuery } from "../app/inventory.ts";
import { useTypedSearch } from "../app/list/typed-search.ts";
import { ListPage } from "../app/list/ListPage.tsx";
import { SiteTabs } from "../app/place/SiteTabs.tsx";
import { paths } from "../paths.ts";
import type { workersLoader } from "./loaders.ts";
import { workersQuery } from "./queries.ts";
import { WorkerTable } from "./WorkerTable.tsx";
import { optionalPart } from "../app/routing/optional-part.ts";
import { PartMissing } from "../app/routing/PartMissing.tsx";

const WorkerBulk = optionalPart(
  async () => (await import("./WorkerBulk.tsx")).WorkerBulk,
  PartMissing,
);

export function WorkersPage() {
  const { siteId, view: opened } = useLoaderData<typeof workersLoader>();
  const [poll] = useState(() => makePoller());
  const { data: site } = useQuery(siteQuery(siteId));
  const pathOf = (to: ListView) => paths.workers(siteId, to);
  const queryOf = (to: ListView) => workersQuery(siteId, to);
  const typing = useTypedSearch(opened, pathOf, queryOf);
  const list = useLoaded(queryOf(typing.view), ({ data }) => poll(data));
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
      typing={typing}
      pathOf={pathOf}
      queryOf={queryOf}
      empty={{
        art: "workers",
        title: "No workers yet",
        text: "A worker runs jobs from a queue of this site. Processes that exit are restarted.",
      }}
    >
      <WorkerTable workers={list.data} />
    </ListPage>
  );
}
