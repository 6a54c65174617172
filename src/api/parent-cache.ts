// Caches the parent of a thing, for services whose responses do not name it: whoever came from its list has seen it there.
import type { Page } from "../../contract/paging.ts";
import { queryClient } from "./query.ts";

type ListName = "listWorkers" | "listWebhooks" | "listBackupConfigurations";

// In the cache, which ends with the session: another service has the same ids for other things.
const cacheKey = (list: ListName, id: number) => ["parent", list, id];

/** Remembers where something was made, which is in no list yet. */
export const cacheParent = (list: ListName, id: number, ownerId: number): void =>
  void queryClient.setQueryData(cacheKey(list, id), ownerId);

/** The id of the site or server in whose list it was; null when it was in none. */
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
