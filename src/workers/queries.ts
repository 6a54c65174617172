import { addOperations } from "../api/client.ts";
import { workerExtras, workerOperations } from "../../contract/workers/operations.ts";
import type { Page } from "../../contract/paging.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { listQuery, type ListView } from "../api/list-query.ts";
import { query, queryClient } from "../api/query.ts";

addOperations({ ...workerOperations, ...workerExtras });

export const workersQuery = (siteId: number, view: ListView) =>
  listQuery(view, (wanted) => query("listWorkers", { id: siteId }, wanted));

export const workerQuery = (id: number) => query("showWorker", { id });

/** Copies a worker from a cached list to its own query, so that its page opens at once. */
export function seedWorker(id: number): void {
  const { queryKey } = workerQuery(id);
  if (queryClient.getQueryData(queryKey) !== undefined) return;
  const lists = queryClient.getQueriesData<Page<Worker>>({ queryKey: ["listWorkers"] });
  const found = lists.flatMap(([, list]) => list?.data ?? []).find((worker) => worker.id === id);
  // Dated as old, so that it is shown and refetched.
  if (found !== undefined) queryClient.setQueryData(queryKey, found, { updatedAt: 0 });
}
