// Queries a list by its page and, where the service supports it, by filter, search and order.
import { type ListFilter, type Page, statusParameter } from "../../contract/paging.ts";
import { hasStatus } from "./api-error.ts";
import { pageQuery } from "./page-query.ts";
import { type DataQuery, queryClient } from "./query.ts";
import { sessions } from "./session.ts";

/** The parameters of a list in the URL. */
export type ListView = {
  page?: number;
  per_page?: string;
  /** Statuses, separated by commas. */
  status?: string;
  /** Search text. */
  q?: string;
  sort?: string;
};

type ListQuery = ListFilter & { page?: string; per_page?: string };

const toQuery = ({ page = 1, per_page, status, q, sort }: ListView, usual: string): ListQuery => ({
  ...pageQuery(page),
  ...(per_page && { per_page }),
  ...(status && { [statusParameter]: status }),
  ...(q && { search: q }),
  sort: sort || usual,
});

/** Lists whose query parameters the service refuses. A service that does not support them may also ignore them. */
const refusing = new Set<unknown>();
sessions.state.subscribe(() => refusing.clear());

/**
 * @param ask returns the query of the list for given parameters
 * @param usualSort the default order; problems at the end of a long list would be overlooked
 */
export function listQuery<List extends Page<{ id: number }> | null>(
  view: ListView,
  ask: (query: ListQuery) => DataQuery<List>,
  usualSort = "attention",
): DataQuery<List> {
  const { queryKey, queryFn } = ask(toQuery(view, usualSort));
  const [name] = queryKey;
  const { queryFn: askUsual } = ask(toQuery({ ...view, sort: "" }, usualSort));
  const { queryFn: askPlainly } = ask(pageQuery(view.page ?? 1));
  const isRefusal = (error: unknown) => hasStatus(error, 422) || hasStatus(error, 400);
  return {
    queryKey,
    queryFn: async () => {
      const askWanted = () =>
        queryFn().catch((error: unknown) => {
          // A refused order must not disable the filters.
          if (view.sort && isRefusal(error)) return askUsual();
          throw error;
        });
      const list = await (refusing.has(name) ? askPlainly : askWanted)().catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
        // A refusal of values typed into the URL does not prove that the list refuses the parameters.
        if (!view.status && !view.sort && !view.q) refusing.add(name);
        return askPlainly();
      });
      const all = queryClient.getQueriesData<List>({ queryKey: queryKey.slice(0, 2) });
      const known = all.flatMap(([, one]) => one?.data ?? []);
      if (list === null || known.length === 0) return list;
      const shown = queryClient.getQueryData<List>(queryKey);
      return import("./keep-rows.ts").then(
        ({ keepRows }) => ({ ...list, data: keepRows(known, shown?.data ?? [], list.data) }),
        () => list,
      );
    },
  };
}
