// The loaders of the webhook pages. The navigation marks the current site by `siteId`.
import type { LoaderFunctionArgs } from "react-router";
import { cachedParentOf } from "../api/parent-cache.ts";
import { siteQuery } from "../app/inventory.ts";
import { deliveryStates } from "../../contract/webhooks/delivery.ts";
import {
  idOf,
  load,
  loadFresh,
  loadIfThere,
  loadPlace,
  pageOf,
  viewOf,
} from "../app/routing/loading.ts";
import { type DeliveriesView, readId, readText } from "../paths.ts";
import {
  deliveriesQuery,
  deliveryQuery,
  installationQuery,
  seedWebhook,
  webhookQuery,
  webhooksQuery,
} from "./queries.ts";

const deliveryIdOf = (request: Request) =>
  readId(new URL(request.url).searchParams.get("delivery") ?? undefined);

/** Reads the view of the deliveries from the URL, without invalid values. */
function deliveriesViewOf(request: Request): DeliveriesView {
  const given = new URL(request.url).searchParams;
  return {
    page: pageOf(request),
    status: deliveryStates.find((known) => known === given.get("status")),
    event: readText(given.get("event")) || undefined,
    q: readText(given.get("q")).slice(0, 200) || undefined,
  };
}

export async function webhooksLoader({ params, request }: LoaderFunctionArgs) {
  const siteId = idOf(params);
  const view = viewOf(request);
  await Promise.all([
    load(request, webhooksQuery(siteId, view)),
    loadIfThere(request, siteQuery(siteId)),
  ]);
  return { siteId, view };
}

export async function newWebhookLoader({ params, request }: LoaderFunctionArgs) {
  const siteId = idOf(params);
  await Promise.all([
    loadPlace(request, siteQuery(siteId)),
    loadIfThere(request, installationQuery()),
  ]);
  return { siteId };
}

export async function editWebhookLoader({ params, request }: LoaderFunctionArgs) {
  const id = idOf(params);
  const webhook = await loadFresh(request, webhookQuery(id));
  const siteId = webhook.site_id ?? cachedParentOf("listWebhooks", id);
  if (siteId !== null) await loadIfThere(request, siteQuery(siteId));
  return { id, siteId };
}

export async function webhookLoader({ params, request }: LoaderFunctionArgs) {
  const id = idOf(params);
  const view = deliveriesViewOf(request);
  const deliveryId = deliveryIdOf(request);
  seedWebhook(id);
  const [webhook] = await Promise.all([
    load(request, webhookQuery(id)),
    loadIfThere(request, deliveriesQuery(id, view)),
    ...(deliveryId === null ? [] : [loadIfThere(request, deliveryQuery(deliveryId))]),
  ]);
  const siteId = webhook.site_id ?? cachedParentOf("listWebhooks", id);
  if (siteId !== null) await loadIfThere(request, siteQuery(siteId));
  return { id, siteId, view, deliveryId };
}
