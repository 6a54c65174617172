import type { Page } from "../../contract/paging.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { listQuery, type ListView } from "../api/list-query.ts";
import { patchAnswers, query, queryClient } from "../api/query.ts";

export const workersQuery = (siteId: number, view: ListView) =>
  listQuery(view, (wanted) => query("listWorkers", { id: siteId }, wanted));

export const workerQuery = (id: number) => query("showWorker", { id });

/** Puts what a list knows of a worker where its own page looks, so that the page opens at once. */
export function seedWorker(id: number): void {
  const { queryKey } = workerQuery(id);
  if (queryClient.getQueryData(queryKey) !== undefined) return;
  const lists = queryClient.getQueriesData<Page<Worker>>({ queryKey: ["listWorkers"] });
  const found = lists.flatMap(([, list]) => list?.data ?? []).find((worker) => worker.id === id);
  // As old as can be: it is shown, and asked for anew.
  if (found !== undefined) queryClient.setQueryData(queryKey, found, { updatedAt: 0 });
}

/** Changes a worker wherever the cache holds it. */
export function patchWorker(id: number, patch: (worker: Worker) => Worker): void {
  const patchOne = (worker: Worker) => (worker.id === id ? patch(worker) : worker);
  patchAnswers("showWorker", patchOne);
  patchAnswers("listWorkers", (list) => ({ ...list, data: list.data.map(patchOne) }));
}
