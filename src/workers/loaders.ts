// What the workers' pages need before they show. The navigation marks the current site by `siteId`.
import type { LoaderFunctionArgs } from "react-router";
import { cachedParentOf } from "../api/parent-cache.ts";
import { siteQuery, serverQuery } from "../app/inventory.ts";
import { idOf, load, loadIfThere, settleTyping, viewOf } from "../app/loading.ts";
import { seedWorker, workerQuery, workersQuery } from "./queries.ts";

export async function workersLoader({ params, request }: LoaderFunctionArgs) {
  const siteId = idOf(params);
  const view = viewOf(request);
  await settleTyping(request, view);
  await Promise.all([
    load(request, workersQuery(siteId, view, request.signal)),
    loadIfThere(request, siteQuery(siteId)),
  ]);
  return { siteId, view };
}

export async function newWorkerLoader({ params, request }: LoaderFunctionArgs) {
  const siteId = idOf(params);
  const site = await loadIfThere(request, siteQuery(siteId));
  if (site !== null) await loadIfThere(request, serverQuery(site.server_id));
  return { siteId, serverId: site?.server_id ?? null };
}

export async function workerLoader({ params, request }: LoaderFunctionArgs) {
  const id = idOf(params);
  seedWorker(id);
  const worker = await load(request, workerQuery(id));
  const siteId = worker.site_id ?? cachedParentOf("listWorkers", id);
  if (siteId !== null) await loadIfThere(request, siteQuery(siteId));
  return { id, siteId };
}
