// Caches the parents of objects, for services whose responses do not name them: the list that an object was opened from
// does.
import type { Page } from "../../contract/paging.ts";
import { queryClient } from "./query.ts";

type ListName = "listWorkers" | "listWebhooks" | "listBackupConfigurations";

// In the query cache, which ends with the session: another service uses the same ids for other objects.
const cacheKey = (list: ListName, id: number) => ["parent", list, id];

/** Stores the parent of a new object, which is in no list yet. */
export const cacheParent = (list: ListName, id: number, ownerId: number): void =>
  void queryClient.setQueryData(cacheKey(list, id), ownerId);

/** Returns the id of the site or server whose list had the object; null where no cached list has it. */
export function cachedParentOf(list: ListName, id: number): number | null {
  const noted = queryClient.getQueryData<number>(cacheKey(list, id));
  if (noted !== undefined) return noted;
  const lists = queryClient.getQueriesData<Page<{ id: number }>>({ queryKey: [list] });
  for (const [[, params], page] of lists)
    if (page?.data.some((item) => item.id === id) === true)
      // The keys of `query` are [operation, params, query], and these lists have the one param `id`.
      return (params as { id: number }).id;
  return null;
}
