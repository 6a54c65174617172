// Reads the rows of a list beyond the current page.
import type { Page } from "../../contract/paging.ts";
import type { ListView } from "../api/list-query.ts";
import { type DataQuery, queryClient } from "../api/query.ts";

/** The list of a selection. */
export type Listed<Item> = {
  meta: Page<Item>["meta"];
  view: ListView;
  pathOf: (view: ListView) => string;
  queryOf: (view: ListView) => DataQuery<Page<Item>>;
};

/** Returns all rows that match the filter, page by page. */
export async function fetchRows<Item extends { id: number }>(
  { queryOf }: Pick<Listed<Item>, "queryOf">,
  { status = "", q = "" }: ListView,
): Promise<Item[]> {
  const rows = new Map<number, Item>();
  for (let page = 1, last = 1; page <= last; page++) {
    // Sorted by id, so that the order is stable while pages are read.
    const query = queryOf({ status, q, sort: "id", per_page: "100", page });
    const { data, meta } = await queryClient.fetchQuery({ ...query, staleTime: 0, retry: false });
    for (const row of data) rows.set(row.id, row);
    last = meta.last_page;
  }
  return [...rows.values()];
}
