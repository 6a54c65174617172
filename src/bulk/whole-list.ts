// The rows of a list beyond the page that is shown.
import type { Page } from "../../contract/paging.ts";
import type { ListView } from "../api/list-query.ts";
import { type DataQuery, queryClient } from "../api/query.ts";

/** The list that a selection is of. */
export type Listed<Item> = {
  meta: Page<Item>["meta"];
  view: ListView;
  pathOf: (view: ListView) => string;
  queryOf: (view: ListView) => DataQuery<Page<Item>>;
};

/** All that the filter lets through, page by page. */
export async function fetchRows<Item extends { id: number }>(
  { queryOf }: Pick<Listed<Item>, "queryOf">,
  { status = "", q = "" }: ListView,
): Promise<Item[]> {
  const rows = new Map<number, Item>();
  for (let page = 1, last = 1; page <= last; page++) {
    // By their numbers, which nothing changes while the pages are read.
    const query = queryOf({ status, q, sort: "id", per_page: "100", page });
    const { data, meta } = await queryClient.fetchQuery({ ...query, staleTime: 0, retry: false });
    for (const row of data) rows.set(row.id, row);
    last = meta.last_page;
  }
  return [...rows.values()];
}
