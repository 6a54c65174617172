import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import { subscribableEvents } from "../../contract/events.ts";
import {
  type CreateWebhookBody,
  createWebhookBody,
  type UpdateWebhookBody,
} from "../../contract/webhooks/bodies.ts";
import { mutate } from "../api/mutate.ts";
import { useLoaded } from "../api/query.ts";
import { FormPage } from "../app/form/FormPage.tsx";
import { changesIn } from "../app/form/form-values.ts";
import { siteName, siteQuery } from "../app/inventory.ts";
import { paths } from "../paths.ts";
import { EmptyState } from "../ui/feedback/EmptyState.tsx";
import { changeMutation } from "./actions.ts";
import { DescriptionField } from "./DescriptionField.tsx";
import { EventsField } from "./EventsField.tsx";
import type { editWebhookLoader } from "./loaders.ts";
import { webhookQuery } from "./queries.ts";
import { isChangeable, nameOf } from "./webhook-facts.ts";
import { WebhookUrlField } from "./WebhookUrlField.tsx";

async function save(id: number, body: UpdateWebhookBody) {
  const webhook = await mutate(changeMutation, { id, body });
  return { to: paths.webhook(id), text: `Webhook ${nameOf(webhook)} saved.` };
}

export function WebhookEditPage() {
  const { id, siteId } = useLoaderData<typeof editWebhookLoader>();
  const webhook = useLoaded(webhookQuery(id), undefined, true);
  // A poll must not change the form while it is being filled in.
  const [defaultValues] = useState<CreateWebhookBody>(() => ({
    url: webhook.url,
    description: webhook.description ?? "",
    events: webhook.events
      ? subscribableEvents.filter((event) => webhook.events?.includes(event))
      : null,
  }));
  const { data: site } = useQuery({ ...siteQuery(siteId ?? 0), enabled: siteId !== null });
  if (!isChangeable(webhook))
    return (
      <EmptyState title="Can't edit webhook">This service can&apos;t change webhooks.</EmptyState>
    );
  const name = siteId === null ? null : siteName(siteId, site);
  return (
    <FormPage
      title={`Edit webhook ${id}`}
      context={name === null ? [] : [name]}
      crumbs={[
        { label: "Overview", to: paths.home() },
        ...(siteId === null ? [] : [{ label: `${name} webhooks`, to: paths.webhooks(siteId) }]),
        { label: `Webhook ${id}`, to: paths.webhook(id) },
      ]}
      schema={createWebhookBody}
      defaultValues={defaultValues}
      // Fields that were not changed here may have been changed elsewhere meanwhile.
      save={(body) => save(id, changesIn(body, defaultValues))}
      submit={["Save changes", "Saving…"]}
      cancelTo={paths.webhook(id)}
      leaveQuestion="Leave without saving the changes?"
    >
      <WebhookUrlField isOurs />
      <DescriptionField />
      <EventsField />
    </FormPage>
  );
}
