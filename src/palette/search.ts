// The service's search as the palette asks it: at each key, without a pause, the question before given up.
import { lateOperations } from "../../contract/late-operations.ts";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { maxSearchText, type SearchResults } from "../../contract/search.ts";
import { isMissing } from "../api/api-error.ts";
import { addOperations, call } from "../api/client.ts";

addOperations(lateOperations);

const searchQuery = (q: string) => ({
  queryKey: ["search", {}, { q }],
  // Null from a service that has no search.
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<SearchResults | null> => {
    try {
      return await call("search", {}, { query: { q }, signal });
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  },
  // Whoever types goes on without it; the next key asks again.
  retry: false,
  gcTime: 60_000,
});

type Search = {
  /** False = the service has none; null = nobody knows yet. */
  isThere: boolean | null;
  /** Of this text, or of the one before while this one's are on their way. */
  results: SearchResults | null;
  /** The results are of this text, or there will be none. */
  isSettled: boolean;
  hasFailed: boolean;
};

export function useSearch(text: string): Search {
  const q = text.trim().slice(0, maxSearchText);
  // Asked for nothing, it says whether it is there before the first letter is typed.
  const { data: known } = useQuery({ ...searchQuery(""), staleTime: Infinity });
  const { data, isPlaceholderData, isError, isFetching } = useQuery({
    ...searchQuery(q),
    enabled: q !== "" && known !== null,
    placeholderData: keepPreviousData,
  });
  const isOff = q === "" || known === null || isError;
  return {
    isThere: known === undefined ? null : known !== null,
    results: isOff ? null : (data ?? null),
    isSettled: isOff || (data !== undefined && !isPlaceholderData) || !isFetching,
    hasFailed: q !== "" && isError,
  };
}
