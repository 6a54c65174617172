// The loaders of the worker pages. The navigation marks the current site by `siteId`.
import type { LoaderFunctionArgs } from "react-router";
import { cachedParentOf } from "../api/parent-cache.ts";
import { siteQuery, serverQuery } from "../app/inventory.ts";
import { idOf, load, loadFresh, loadIfThere, loadPlace, viewOf } from "../app/routing/loading.ts";
import { readId } from "../paths.ts";
import { seedWorker, workerQuery, workersQuery } from "./queries.ts";

export async function workersLoader({ params, request }: LoaderFunctionArgs) {
  const siteId = idOf(params);
  const view = viewOf(request);
  await Promise.all([
    load(request, workersQuery(siteId, view)),
    loadIfThere(request, siteQuery(siteId)),
  ]);
  return { siteId, view };
}

async function serverOf(request: Request, siteId: number | null): Promise<number | null> {
  const site = siteId === null ? null : await loadIfThere(request, siteQuery(siteId));
  if (site !== null) await loadIfThere(request, serverQuery(site.server_id));
  return site?.server_id ?? null;
}

export async function newWorkerLoader({ params, request }: LoaderFunctionArgs) {
  const siteId = idOf(params);
  const like = readId(new URL(request.url).searchParams.get("like") ?? undefined);
  const [serverId, others, original] = await Promise.all([
    loadPlace(request, siteQuery(siteId)).then(() => serverOf(request, siteId)),
    loadIfThere(request, workersQuery(siteId, {})),
    like === null ? null : loadIfThere(request, workerQuery(like)),
  ]);
  return { siteId, serverId, original, newest: others?.data[0] ?? null };
}

export async function editWorkerLoader(args: LoaderFunctionArgs) {
  const { id, siteId } = await loadWorker(args, loadFresh);
  return { id, siteId, serverId: await serverOf(args.request, siteId) };
}

export const workerLoader = (args: LoaderFunctionArgs) => loadWorker(args, load);

async function loadWorker({ params, request }: LoaderFunctionArgs, read: typeof load) {
  const id = idOf(params);
  seedWorker(id);
  const worker = await read(request, workerQuery(id));
  const siteId = worker.site_id ?? cachedParentOf("listWorkers", id);
  if (siteId !== null) await loadIfThere(request, siteQuery(siteId));
  return { id, siteId };
}
