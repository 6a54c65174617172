// What the webhooks' pages need before they show. `siteId` also tells the left side where we are.
import type { LoaderFunctionArgs } from "react-router";
import { readPage } from "../../contract/paging.ts";
import { cachedParentOf } from "../api/parent-cache.ts";
import { siteQuery } from "../app/inventory.ts";
import { idOf, load, loadIfThere } from "../app/loading.ts";
import { readId } from "../paths.ts";
import {
  deliveriesQuery,
  deliveryQuery,
  seedWebhook,
  webhookQuery,
  webhooksQuery,
} from "./queries.ts";

function readSearch(request: Request) {
  const search = new URL(request.url).searchParams;
  const { page } = readPage({ page: search.get("page") ?? undefined });
  return { page, deliveryId: readId(search.get("delivery") ?? undefined) };
}

export async function webhooksLoader({ params, request }: LoaderFunctionArgs) {
  const siteId = idOf(params);
  const { page } = readSearch(request);
  await Promise.all([
    load(request, webhooksQuery(siteId, page)),
    loadIfThere(request, siteQuery(siteId)),
  ]);
  return { siteId, page };
}

export async function newWebhookLoader({ params, request }: LoaderFunctionArgs) {
  const siteId = idOf(params);
  await loadIfThere(request, siteQuery(siteId));
  return { siteId };
}

export async function webhookLoader({ params, request }: LoaderFunctionArgs) {
  const id = idOf(params);
  const { page, deliveryId } = readSearch(request);
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
