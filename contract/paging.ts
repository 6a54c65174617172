// Lists come in pages of one shape; this is that shape and the arithmetic behind it.
import * as z from "zod/mini";

export const defaultPerPage = 20;
export const maxPerPage = 100;

/** What every list may be asked for. Both are texts of a query string, read by `readPage`. */
const pageFields = { page: z.optional(z.string()), per_page: z.optional(z.string()) };
const pageQuery = z.object(pageFields);

export const statusParameter = "filter[status]";

/** What a list may be asked for that can be filtered; the service knows its statuses and sorts. An extra. */
export const filterQuery = z.object({
  ...pageFields,
  /** Words of `meta.counts`, separated by commas. */
  [statusParameter]: z.optional(z.string()),
  /** Words that a row must have, in any order. */
  search: z.optional(z.string()),
  /** A name of `meta.sorts`, after a "-" for descending order. */
  sort: z.optional(z.string()),
});
/** A list without any of these answers as the interface says, without `meta.counts` and `meta.sorts`. */
export type ListFilter = Omit<z.infer<typeof filterQuery>, keyof typeof pageFields>;

const count = z.int().check(z.gte(0));
const url = z.string();

/** The envelope of a list of `item`. */
export const pageOf = <Item extends z.ZodMiniType>(item: Item) =>
  z.object({
    data: z.array(item),
    links: z.object({
      first: url,
      last: url,
      prev: z.nullable(url),
      next: z.nullable(url),
    }),
    meta: z.object({
      current_page: count,
      from: z.nullable(count),
      to: z.nullable(count),
      last_page: count,
      path: url,
      per_page: count,
      total: count,
      /** Extra: the rows that match the search by status, whatever the status filter, and `all`. */
      counts: z.optional(z.record(z.string(), count)),
      /** Extra: what `sort` takes. */
      sorts: z.optional(z.array(z.string())),
    }),
  });

/** What every row of the operation table has that lists `item`. */
export const listOf = <Item extends z.ZodMiniType>(item: Item) =>
  ({ method: "GET", query: pageQuery, responses: { 200: pageOf(item) } }) as const;

/** The same for a list that can be filtered, searched and sorted. */
export const filteredListOf = <Item extends z.ZodMiniType>(item: Item) =>
  ({ ...listOf(item), query: filterQuery }) as const;

/** What a list says of itself where it was asked for some of its rows, or in another order. */
type Filtered = { counts: Record<string, number>; sorts: string[] };

export type Page<Item> = {
  data: Item[];
  links: { first: string; last: string; prev: string | null; next: string | null };
  meta: {
    current_page: number;
    from: number | null;
    to: number | null;
    last_page: number;
    path: string;
    per_page: number;
    total: number;
    counts?: Filtered["counts"] | undefined;
    sorts?: Filtered["sorts"] | undefined;
  };
};

/** Which page is wanted: numbers that both count from 1. */
export type PageRequest = { page: number; perPage: number };

const positive = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;

/** Reads `page` and `per_page`; what is not a positive integer counts as not given. */
export function readPage(query: {
  page?: string | undefined;
  per_page?: string | undefined;
}): PageRequest {
  return {
    page: positive(query.page) ?? 1,
    perPage: Math.min(positive(query.per_page) ?? defaultPerPage, maxPerPage),
  };
}

/** The items of a page, as a query takes them: how many at most, after how many others. */
export const rangeOf = ({ page, perPage }: PageRequest) => ({
  limit: perPage,
  offset: (page - 1) * perPage,
});

/** The items of a page of a list that is in memory. */
export function itemsOn<Item>(items: readonly Item[], page: PageRequest): Item[] {
  const { limit, offset } = rangeOf(page);
  return items.slice(offset, offset + limit);
}

/**
 * Puts one page of items into the envelope.
 * @param path absolute URL of the list, without a query
 * @param total number of all items, not of this page's
 * @param filter what it was asked for beside the page; links keep it
 */
export function toPage<Item>(
  items: Item[],
  total: number,
  request: PageRequest,
  path: string,
  filter: ListFilter = {},
  filtered?: Filtered,
): Page<Item> {
  const { page, perPage } = request;
  const lastPage = Math.max(1, Math.ceil(total / perPage));
  const kept = Object.entries({
    ...(perPage !== defaultPerPage && { per_page: String(perPage) }),
    ...filter,
  }).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const suffix = kept.length === 0 ? "" : `&${new URLSearchParams(kept)}`;
  const link = (number: number) => `${path}?page=${number}${suffix}`;
  const from = items.length === 0 ? null : rangeOf(request).offset + 1;
  return {
    data: items,
    links: {
      first: link(1),
      last: link(lastPage),
      prev: page > 1 ? link(page - 1) : null,
      next: page < lastPage ? link(page + 1) : null,
    },
    meta: {
      current_page: page,
      from,
      to: from === null ? null : from + items.length - 1,
      last_page: lastPage,
      path,
      per_page: perPage,
      total,
      ...filtered,
    },
  };
}
