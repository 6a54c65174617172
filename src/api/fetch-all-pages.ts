// Fetches all pages of a list as one, where the whole list is needed: options of a form, or a set that is saved at
// once.
import type { Page } from "../../contract/paging.ts";
import { type DataQuery, queryClient } from "./query.ts";

/**
 * The key begins like the keys of the pages, so that invalidating those invalidates this, too.
 * @param pageQuery the query of a page, counted from 1
 */
export function fetchAllPages<Item, Nothing extends null = never>(
  pageQuery: (page: number) => DataQuery<Page<Item> | Nothing>,
): DataQuery<Page<Item> | Nothing> {
  const first = pageQuery(1);
  // Cached pages are not requested again. Retries are left to the query of all pages.
  const read = (page: DataQuery<Page<Item> | Nothing>) =>
    queryClient.fetchQuery({ ...page, retry: false });
  return {
    queryKey: [...first.queryKey.slice(0, 2), "every page"],
    queryFn: async () => {
      const list = await read(first);
      if (list === null || list.meta.last_page <= 1) return list;
      const data = [...list.data];
      for (let page = 2; page <= list.meta.last_page; page++)
        data.push(...((await read(pageQuery(page)))?.data ?? []));
      return { ...list, data };
    },
  };
}
