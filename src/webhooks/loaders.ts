// What the webhooks' pages need before they show. The navigation marks the current site by `siteId`.
import type { LoaderFunctionArgs } from "react-router";
import { cachedParentOf } from "../api/parent-cache.ts";
import { siteQuery } from "../app/inventory.ts";
import { idOf, load, loadIfThere, pageOf, settleTyping, viewOf } from "../app/loading.ts";
import { readId } from "../paths.ts";
import {
  deliveriesQuery,
  deliveryQuery,
  seedWebhook,
  webhookQuery,
  webhooksQuery,
} from "./queries.ts";

const deliveryIdOf = (request: Request) =>
  readId(new URL(request.url).searchParams.get("delivery") ?? undefined);

export async function webhooksLoader({ params, request }: LoaderFunctionArgs) {
  const siteId = idOf(params);
  const view = viewOf(request);
  await settleTyping(request, view);
  await Promise.all([
    load(request, webhooksQuery(siteId, view, request.signal)),
    loadIfThere(request, siteQuery(siteId)),
  ]);
  return { siteId, view };
}

export async function newWebhookLoader({ params, request }: LoaderFunctionArgs) {
  const siteId = idOf(params);
  await loadIfThere(request, siteQuery(siteId));
  return { siteId };
}

export async function webhookLoader({ params, request }: LoaderFunctionArgs) {
  const id = idOf(params);
  const page = pageOf(request);
  const deliveryId = deliveryIdOf(request);
  seedWebhook(id);
  const [webhook] = await Promise.all([
    load(request, webhookQuery(id)),
    loadIfThere(request, deliveriesQuery(id, page)),
    ...(deliveryId === null ? [] : [loadIfThere(request, deliveryQuery(deliveryId))]),
  ]);
  const siteId = webhook.site_id ?? cachedParentOf("listWebhooks", id);
  if (siteId !== null) await loadIfThere(request, siteQuery(siteId));
  return { id, siteId, page, deliveryId };
}
