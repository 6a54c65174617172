// Data of the service as React Query sees it. A query is declared from the operation table; its key is
// [operation name, params, query], so all queries of an operation are found by the name alone.
import { hashKey, notifyManager, QueryClient, useQuery } from "@tanstack/react-query";
import type { interfaceOperations, OperationName } from "../../contract/operations.ts";
import { ApiError, hasStatus, isMissing, isPassing } from "./api-error.ts";
import { type ResponseOf, call, type ParamsOf, type QueryOf } from "./client.ts";
import { expectNews } from "./poll.ts";
import { catchUpOnReturn, joinTabs, setPollClock } from "./tabs.ts";

type InterfaceName = keyof typeof interfaceOperations;
type ExtraName = Exclude<OperationName, InterfaceName>;

/** A service may ask for years, and a timer of so many milliseconds would be over at once. */
const longestWaitMs = 3_600_000;

/** Longer and longer, with jitter so that open tabs do not come back in step. */
const backOffMs = (failures: number, error: unknown): number =>
  error instanceof ApiError && error.retryAfterMs !== null
    ? Math.min(longestWaitMs, error.retryAfterMs)
    : Math.min(30_000, 1_000 * 2 ** failures) * (0.5 + Math.random() / 2);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // A page that was seen opens with what was read then.
      gcTime: 3_600_000,
      // Without end: the retries are the back-off of a poll, and the old data stays on screen meanwhile.
      retry: (_, error) => isPassing(error),
      retryDelay: backOffMs,
      // The service may well be this machine, which needs no network.
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

// What an action changes is on screen in the next frame; by default React Query notifies after a timer.
notifyManager.setScheduler(queueMicrotask);

const sharing = "document" in globalThis ? joinTabs(queryClient) : null;
if (sharing !== null) {
  setPollClock(queryClient);
  catchUpOnReturn(queryClient);
}

/** Asks the service, or takes what another tab is just being answered. */
const shared = <Data>(key: readonly unknown[], fetch: () => Promise<Data>): Promise<Data> =>
  sharing === null ? fetch() : sharing.ask(hashKey(key), fetch);

const toSent = <Name extends OperationName>(query: QueryOf<Name> | undefined) =>
  query === undefined ? {} : { query };

/** A question to the service, for `useQuery`, `useLoaded` and the loaders. */
export type DataQuery<Data> = { queryKey: readonly unknown[]; queryFn: () => Promise<Data> };

/** A query of the interface, which every service answers. */
export const query = <Name extends InterfaceName>(
  name: Name,
  params: ParamsOf<Name>,
  query?: QueryOf<Name>,
): DataQuery<ResponseOf<Name>> => ({
  queryKey: [name, params, query ?? {}],
  queryFn: () => shared([name, params, query ?? {}], () => call(name, params, toSent(query))),
});

/** A query of an extra; null from a service that has no such thing. */
export const extraQuery = <Name extends ExtraName>(
  name: Name,
  params: ParamsOf<Name>,
  query?: QueryOf<Name>,
): DataQuery<ResponseOf<Name> | null> => ({
  queryKey: [name, params, query ?? {}],
  queryFn: () => shared([name, params, query ?? {}], () => callExtra(name, params, query)),
});

/** Calls an extra; null from a service that has no such thing. */
export async function callExtra<Name extends ExtraName>(
  name: Name,
  params: ParamsOf<Name>,
  query?: QueryOf<Name>,
): Promise<ResponseOf<Name> | null> {
  try {
    return await call(name, params, toSent(query));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/**
 * Reads what the route's loader has loaded, so that a page needs no word for "not yet".
 * @param pollMs when to ask again, false = not at all
 * @param isLeaving once its deletion was asked for here: "Not found" is no news then, and the next page is on its way
 */
export function useLoaded<Data>(
  query: DataQuery<Data>,
  pollMs: (data: Data) => number | false = () => false,
  isLeaving = false,
): Data {
  const { data } = useQuery({
    ...query,
    enabled: !isLeaving,
    refetchInterval: ({ state: { data } }) => data !== undefined && pollMs(data),
    // What is gone leads to the error page; any other failure of a poll leaves the old data. While a change is under
    // way it may be the deletion.
    throwOnError: (error) => hasStatus(error, 404) && !isLeaving && queryClient.isMutating() === 0,
  });
  if (data === undefined)
    throw new Error(`The loader of this route does not load ${JSON.stringify(query.queryKey)}.`);
  return data;
}

/** Changes what the cache holds of an operation's responses. */
export function patchAnswers<Name extends InterfaceName>(
  name: Name,
  patch: (response: ResponseOf<Name>) => ResponseOf<Name>,
): void {
  queryClient.setQueriesData<ResponseOf<Name>>({ queryKey: [name] }, (response) =>
    response === undefined ? undefined : patch(response),
  );
}

/** After a change: asks anew for everything of these operations that is on screen; resolves when it is there. */
export const invalidate = async (...names: OperationName[]): Promise<void> => {
  sharing?.changed();
  expectNews();
  await Promise.all(names.map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
};
