// Searches with the service at each keystroke, without a pause, and aborts the request before.
import { lateOperations } from "../../contract/late-operations.ts";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { maxSearchText, type SearchResults } from "../../contract/search.ts";
import { isMissing } from "../api/api-error.ts";
import { addOperations, call } from "../api/client.ts";

addOperations(lateOperations);

const searchQuery = (q: string) => ({
  queryKey: ["search", {}, { q }],
  // Null for a service without a search.
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<SearchResults | null> => {
    try {
      return await call("search", {}, { query: { q }, signal });
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  },
  // The user can go on without it; the next key searches again.
  retry: false,
  gcTime: 60_000,
});

type Search = {
  /** False = the service has no search; null = not known yet. */
  isThere: boolean | null;
  /** Results for this text or, while those are loading, for the previous one. */
  results: SearchResults | null;
  /** Whether the results are for this text, or none will come. */
  isSettled: boolean;
  hasFailed: boolean;
};

export function useSearch(text: string): Search {
  const q = text.trim().slice(0, maxSearchText);
  // Searching for an empty text shows whether the service has a search before the first letter is typed.
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
