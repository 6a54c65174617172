// A site's webhooks: whether each is called, and what came of the last call.
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
import { Icon } from "../ui/Icon.tsx";
import { PageHeader } from "../ui/PageHeader.tsx";
import { Panel } from "../ui/Panel.tsx";
import { HeadCell, Table } from "../ui/Table.tsx";
import type { webhooksLoader } from "./loaders.ts";
import { webhooksQuery } from "./queries.ts";
import { hasExtras, toMoving } from "./webhook-facts.ts";
import { WebhookRow } from "./WebhookRow.tsx";

function NewWebhookLink({ siteId }: { siteId: number }) {
  return (
    <LinkButton to={paths.newWebhook(siteId)} variant="primary">
      <Icon name="plus" />
      New webhook
    </LinkButton>
  );
}

export function WebhooksPage() {
  const { siteId, page } = useLoaderData<typeof webhooksLoader>();
  const [poll] = useState(() => makePoller());
  const { data: site } = useQuery(siteQuery(siteId));
  const { data: webhooks, meta } = useLoaded(webhooksQuery(siteId, page), (list) =>
    poll(list.data.flatMap(({ last_delivery: last }) => (last ? toMoving(last, Date.now()) : []))),
  );
  const name = siteName(siteId, site);
  const isRich = webhooks.some(hasExtras);

  return (
    <>
      <PageHeader
        title="Webhooks"
        context={[name]}
        crumbs={
          <Crumbs
            items={[
              { label: "Servers", to: paths.home() },
              { label: name, to: paths.workers(siteId) },
            ]}
          />
        }
        actions={<NewWebhookLink siteId={siteId} />}
      />
      <SiteTabs siteId={siteId} current="Webhooks" />
      <Panel>
        {webhooks.length > 0 && (
          <Table label="Webhooks">
            <thead>
              <tr>
                <HeadCell>URL</HeadCell>
                {isRich && (
                  <>
                    <HeadCell from="sm">State</HeadCell>
                    <HeadCell from="sm">Last delivery</HeadCell>
                  </>
                )}
                <HeadCell from="md">Created</HeadCell>
                <HeadCell>
                  <span className="sr-only">Actions</span>
                </HeadCell>
              </tr>
            </thead>
            <tbody>
              {webhooks.map((webhook) => (
                <WebhookRow key={webhook.id} webhook={webhook} hasExtras={isRich} />
              ))}
            </tbody>
          </Table>
        )}
        {webhooks.length === 0 && page === 1 && (
          <EmptyState title="No webhooks yet" action={<NewWebhookLink siteId={siteId} />}>
            A webhook is a URL of yours that gets a signed request when something happens on this
            site: a deployment, a backup, a worker that fails.
          </EmptyState>
        )}
        {webhooks.length === 0 && page > 1 && (
          <EmptyState
            title={`Nothing on page ${page}`}
            action={<LinkButton to={paths.webhooks(siteId)}>First page</LinkButton>}
          />
        )}
        <PageLinks meta={meta} pathOf={(number) => paths.webhooks(siteId, number)} />
      </Panel>
    </>
  );
}
