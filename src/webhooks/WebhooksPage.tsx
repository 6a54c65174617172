// A site's webhooks, with their state and newest delivery.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import type { ListView } from "../api/list-query.ts";
import { makePoller } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { siteName, siteQuery } from "../app/inventory.ts";
import { useTypedSearch } from "../app/list/typed-search.ts";
import { ListPage } from "../app/list/ListPage.tsx";
import { SiteTabs } from "../app/place/SiteTabs.tsx";
import { paths } from "../paths.ts";
import { serviceNow } from "../service-clock.ts";
import type { webhooksLoader } from "./loaders.ts";
import { webhooksQuery } from "./queries.ts";
import { toMoving } from "./webhook-facts.ts";
import { WebhookTable } from "./WebhookTable.tsx";
import { optionalPart } from "../app/routing/optional-part.ts";
import { PartMissing } from "../app/routing/PartMissing.tsx";

const WebhookBulk = optionalPart(
  async () => (await import("./WebhookBulk.tsx")).WebhookBulk,
  PartMissing,
);

export function WebhooksPage() {
  const { siteId, view: opened } = useLoaderData<typeof webhooksLoader>();
  const [poll] = useState(() => makePoller());
  const { data: site } = useQuery(siteQuery(siteId));
  const pathOf = (to: ListView) => paths.webhooks(siteId, to);
  const queryOf = (to: ListView) => webhooksQuery(siteId, to);
  const typing = useTypedSearch(opened, pathOf, queryOf);
  const list = useLoaded(queryOf(typing.view), ({ data }) =>
    poll(data.flatMap(({ last_delivery: last }) => (last ? toMoving(last, serviceNow()) : []))),
  );
  return (
    <ListPage
      title="Webhooks"
      place={{ name: siteName(siteId, site), to: paths.workers(siteId) }}
      tabs={<SiteTabs siteId={siteId} current="Webhooks" />}
      create={{ label: "New webhook", to: paths.newWebhook(siteId) }}
      list={list}
      bulk={WebhookBulk}
      typing={typing}
      pathOf={pathOf}
      queryOf={queryOf}
      empty={{
        art: "webhooks",
        title: "No webhooks yet",
        text:
          site === null
            ? "A webhook is a URL of yours that is called when something happens on this site."
            : "A webhook sends a signed request to your URL for each event of this site: deployments, backups, failed workers.",
      }}
    >
      <WebhookTable webhooks={list.data} />
    </ListPage>
  );
}
