import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import { eventTitles } from "../../contract/event-titles.ts";
import { eventTypes } from "../../contract/events.ts";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { type CreateWebhookBody, createWebhookBody } from "../../contract/webhooks/bodies.ts";
import { Crumbs } from "../app/place/Crumbs.tsx";
import { FormPage } from "../app/form/FormPage.tsx";
import { siteName, siteQuery } from "../app/inventory.ts";
import { paths } from "../paths.ts";
import { focusHeading } from "../ui/focus/focus-heading.ts";
import { PageHeader } from "../ui/page/PageHeader.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { createWebhook } from "./actions.ts";
import { DescriptionField } from "./DescriptionField.tsx";
import { EventsField } from "./EventsField.tsx";
import type { newWebhookLoader } from "./loaders.ts";
import { installationQuery } from "./queries.ts";
import { UrlText } from "./UrlText.tsx";
import { hostOf } from "./webhook-facts.ts";
import { WebhookCreated } from "./WebhookCreated.tsx";
import { WebhookUrlField } from "./WebhookUrlField.tsx";

/** All events of a webhook: the title, and the `type` of the request. */
function EventList() {
  return (
    <Panel title="Events">
      <dl className="px-4 py-1 text-sm max-sm:px-3">
        {eventTypes.map((type) => (
          <div
            key={type}
            className="flex min-h-8 flex-wrap items-center justify-between gap-x-4 border-b border-line py-1 last:border-b-0"
          >
            <dt>{eventTitles[type]}</dt>
            <dd className="font-mono text-xs text-muted">{type}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

export function WebhookNewPage() {
  const { siteId } = useLoaderData<typeof newWebhookLoader>();
  const { data: site } = useQuery(siteQuery(siteId));
  const { data: installation } = useQuery(installationQuery());
  const [made, setMade] = useState<{ webhook: Webhook; secret: string } | null>(null);

  const create = async (body: CreateWebhookBody) => {
    const { webhook, secret } = await createWebhook(siteId, body);
    if (secret === null)
      return { to: paths.webhook(webhook.id), text: `Webhook ${hostOf(webhook.url)} created.` };
    setMade({ webhook, secret });
    return null;
  };

  const name = siteName(siteId, site);
  const crumbs = [
    { label: "Overview", to: paths.home() },
    { label: `${name} webhooks`, to: paths.webhooks(siteId) },
  ];
  // The events and schedule of another service are unknown.
  const isOurs = site !== null;
  const hasChoice = installation?.events !== undefined;
  if (made === null)
    return (
      <FormPage
        title="New webhook"
        context={[name]}
        crumbs={crumbs}
        schema={createWebhookBody}
        defaultValues={{ url: "", ...(hasChoice && { description: "", events: null }) }}
        save={create}
        submit={["Create webhook", "Creating…"]}
        cancelTo={paths.webhooks(siteId)}
        leaveQuestion="Leave without creating the webhook?"
        reference={isOurs && !hasChoice && <EventList />}
      >
        <WebhookUrlField isOurs={isOurs} />
        {hasChoice && (
          <>
            <DescriptionField />
            <EventsField />
          </>
        )}
      </FormPage>
    );
  return (
    <>
      <PageHeader title="Webhook created" context={[name]} crumbs={<Crumbs items={crumbs} />} />
      <div ref={focusHeading} className="-mt-3 grid grid-cols-[minmax(0,1fr)] gap-4">
        <p className="font-mono text-xs text-muted">
          <UrlText url={made.webhook.url} />
        </p>
        <WebhookCreated made={made.webhook} secret={made.secret} />
      </div>
    </>
  );
}
