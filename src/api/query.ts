// Connects the service with React Query. Queries are declared from the operation table; their keys are [operation name,
// params, query], so that all queries of an operation can be found by its name.
import { hashKey, notifyManager, QueryClient, useQuery } from "@tanstack/react-query";
import type { interfaceOperations, OperationName } from "../../contract/operations.ts";
import { ApiError, hasStatus, isMissing, isPassing } from "./api-error.ts";
import { type ResponseOf, call, type ParamsOf, type QueryOf } from "./client.ts";
import { expectNews } from "./poll.ts";
import { catchUpOnReturn, joinTabs, setPollClock } from "./tabs.ts";

type InterfaceName = keyof typeof interfaceOperations;
type ExtraName = Exclude<OperationName, InterfaceName>;

/** A service may request a pause of years, but timers that long fire at once. */
const longestWaitMs = 3_600_000;

/** Exponential, with jitter so that open tabs do not retry in step. */
const backOffMs = (failures: number, error: unknown): number =>
  error instanceof ApiError && error.retryAfterMs !== null
    ? Math.min(longestWaitMs, error.retryAfterMs)
    : Math.min(30_000, 1_000 * 2 ** failures) * (0.5 + Math.random() / 2);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // A page that was visited opens with the cached data.
      gcTime: 3_600_000,
      // Unlimited: the retries are the back-off of a poll, and the old data stays on screen meanwhile.
      retry: (_, error) => isPassing(error),
      retryDelay: backOffMs,
      // The service may be on this machine, which needs no network.
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

// Renders the effect of an action in the next frame; by default React Query waits for a timer.
notifyManager.setScheduler(queueMicrotask);

const sharing = "document" in globalThis ? joinTabs(queryClient) : null;
if (sharing !== null) {
  setPollClock(queryClient);
  catchUpOnReturn(queryClient);
}

/** Asks the service, or uses the response to the same request of another tab. */
const shared = <Data>(key: readonly unknown[], fetch: () => Promise<Data>): Promise<Data> =>
  sharing === null ? fetch() : sharing.ask(hashKey(key), fetch);

const toSent = <Name extends OperationName>(query: QueryOf<Name> | undefined) =>
  query === undefined ? {} : { query };

/** A query of the service, for `useQuery`, `useLoaded` and the loaders. */
export type DataQuery<Data> = { queryKey: readonly unknown[]; queryFn: () => Promise<Data> };

/** Returns a query of the interface, which every service supports. */
export const query = <Name extends InterfaceName>(
  name: Name,
  params: ParamsOf<Name>,
  query?: QueryOf<Name>,
): DataQuery<ResponseOf<Name>> => ({
  queryKey: [name, params, query ?? {}],
  queryFn: () => shared([name, params, query ?? {}], () => call(name, params, toSent(query))),
});

/** Returns a query of an extra; its data is null where the service lacks the operation. */
export const extraQuery = <Name extends ExtraName>(
  name: Name,
  params: ParamsOf<Name>,
  query?: QueryOf<Name>,
): DataQuery<ResponseOf<Name> | null> => ({
  queryKey: [name, params, query ?? {}],
  queryFn: () => shared([name, params, query ?? {}], () => callExtra(name, params, query)),
});

/** Calls an extra; null where the service lacks the operation. */
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
 * Reads what the route's loader has loaded, so that a page needs no state for missing data.
 * @param pollMs milliseconds until the next poll, false = no poll
 * @param isKept whether the page stays as it is when this is gone, so that it is not asked for again: its deletion was
 *   requested here, or a form has what was typed
 */
export function useLoaded<Data>(
  query: DataQuery<Data>,
  pollMs: (data: Data) => number | false = () => false,
  isKept = false,
): Data {
  const { data } = useQuery({
    ...query,
    enabled: !isKept,
    refetchInterval: ({ state: { data } }) => data !== undefined && pollMs(data),
    // A 404 leads to the error page; after any other failure of a poll, the old data stays. A running mutation may be
    // the deletion.
    throwOnError: (error) => hasStatus(error, 404) && !isKept && queryClient.isMutating() === 0,
  });
  if (data === undefined)
    throw new Error(`The loader of this route does not load ${JSON.stringify(query.queryKey)}.`);
  return data;
}

/** Updates the cached responses of an operation. */
export function patchAnswers<Name extends InterfaceName>(
  name: Name,
  patch: (response: ResponseOf<Name>) => ResponseOf<Name>,
): void {
  queryClient.setQueriesData<ResponseOf<Name>>({ queryKey: [name] }, (response) =>
    response === undefined ? undefined : patch(response),
  );
}

/** Refetches the active queries of these operations after a change; resolves when the data has arrived. */
export const invalidate = async (...names: OperationName[]): Promise<void> => {
  sharing?.changed();
  expectNews();
  await Promise.all(names.map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
};
