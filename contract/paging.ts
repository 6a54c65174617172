// The common shape of paginated lists, and the arithmetic behind it.
import * as z from "zod/mini";

export const defaultPerPage = 20;
export const maxPerPage = 100;

/** Query of every list. Both are strings, parsed by `readPage`. */
const pageFields = { page: z.optional(z.string()), per_page: z.optional(z.string()) };
const pageQuery = z.object(pageFields);

export const statusParameter = "filter[status]";

/** Query of a list that can be filtered. The service defines its statuses and sorts. An extra. */
export const filterQuery = z.object({
  ...pageFields,
  /** Keys of `meta.counts`, separated by commas. */
  [statusParameter]: z.optional(z.string()),
  /** Words that a row must contain, in any order. */
  search: z.optional(z.string()),
  /** An item of `meta.sorts`, with the prefix "-" for descending order. */
  sort: z.optional(z.string()),
});
/** Without any of these, the response is the interface's, without `meta.counts` and `meta.sorts`. */
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
      /** Extra: number of rows that match the search, by status and as `all`, whatever the status filter. */
      counts: z.optional(z.record(z.string(), count)),
      /** Extra: the values that `sort` accepts. */
      sorts: z.optional(z.array(z.string())),
    }),
  });

/** The fields of every row of the operation table that lists `item`. */
export const listOf = <Item extends z.ZodMiniType>(item: Item) =>
  ({ method: "GET", query: pageQuery, responses: { 200: pageOf(item) } }) as const;

/** The same for a list that can be filtered, searched and sorted. */
export const filteredListOf = <Item extends z.ZodMiniType>(item: Item) =>
  ({ ...listOf(item), query: filterQuery }) as const;

/** Fields of `meta` where a list was filtered, searched or sorted. */
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

/** The requested page; both numbers begin at 1. */
export type PageRequest = { page: number; perPage: number };

const positive = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;

/** Parses `page` and `per_page`; a value that is not a positive integer is ignored. */
export function readPage(query: {
  page?: string | undefined;
  per_page?: string | undefined;
}): PageRequest {
  return {
    page: positive(query.page) ?? 1,
    perPage: Math.min(positive(query.per_page) ?? defaultPerPage, maxPerPage),
  };
}

/** Returns the limit and offset of a page, for a database query. */
export const rangeOf = ({ page, perPage }: PageRequest) => ({
  limit: perPage,
  offset: (page - 1) * perPage,
});

/** Returns the items on a page of a list in memory. */
export function itemsOn<Item>(items: readonly Item[], page: PageRequest): Item[] {
  const { limit, offset } = rangeOf(page);
  return items.slice(offset, offset + limit);
}

/**
 * Puts one page of items into the envelope.
 * @param path absolute URL of the list, without a query
 * @param total number of items on all pages
 * @param filter other parameters of the request, which links keep
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
