import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData, useNavigate } from "react-router";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { Crumbs } from "../app/Crumbs.tsx";
import { siteName, siteQuery } from "../app/inventory.ts";
import { savedState } from "../app/LeaveGuard.tsx";
import { LinkButton } from "../app/LinkButton.tsx";
import { toast } from "../app/toasts.ts";
import { paths } from "../paths.ts";
import { focusHeading } from "../ui/focus-heading.ts";
import { PageHeader } from "../ui/PageHeader.tsx";
import { createWebhook } from "./actions.ts";
import { EventList } from "./EventList.tsx";
import type { newWebhookLoader } from "./loaders.ts";
import { UrlText } from "./UrlText.tsx";
import { hostOf } from "./webhook-facts.ts";
import { WebhookCreated } from "./WebhookCreated.tsx";
import { WebhookForm } from "./WebhookForm.tsx";

function NewWebhook({ siteId }: { siteId: number }) {
  const navigate = useNavigate();
  const { data: site } = useQuery(siteQuery(siteId));
  const [made, setMade] = useState<{ webhook: Webhook; secret: string } | null>(null);

  const create = async (body: { url: string }) => {
    const { webhook, secret } = await createWebhook(siteId, body);
    if (secret !== null) return setMade({ webhook, secret });
    await navigate(paths.webhook(webhook.id), { state: savedState });
    toast.success(`Webhook ${hostOf(webhook.url)} created.`);
  };

  const name = siteName(siteId, site);
  // What another service sends, and when, is not known.
  const isOurs = site !== null;
  return (
    <>
      <PageHeader
        title={made === null ? "New webhook" : "Webhook created"}
        context={[name]}
        crumbs={
          <Crumbs
            items={[
              { label: "Servers", to: paths.home() },
              { label: `${name} webhooks`, to: paths.webhooks(siteId) },
            ]}
          />
        }
      />
      {made === null ? (
        <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem] lg:gap-10">
          <WebhookForm
            isOurs={isOurs}
            onCreate={create}
            cancel={<LinkButton to={paths.webhooks(siteId)}>Cancel</LinkButton>}
          />
          {isOurs && <EventList />}
        </div>
      ) : (
        <div ref={focusHeading} className="-mt-3 grid grid-cols-[minmax(0,1fr)] gap-4">
          <p className="font-mono text-xs text-muted">
            <UrlText url={made.webhook.url} />
          </p>
          <WebhookCreated made={made.webhook} secret={made.secret} />
        </div>
      )}
    </>
  );
}

export function WebhookNewPage() {
  const { siteId } = useLoaderData<typeof newWebhookLoader>();
  // The secret of one site's webhook does not stay for the next site.
  return <NewWebhook key={siteId} siteId={siteId} />;
}
