// The names of storages, for pages that show where backups are.
import { useQuery } from "@tanstack/react-query";
import { storageProvidersQuery } from "./queries.ts";

/** Names may change. */
const namesMs = 60_000;

/** Returns the names of the storages, once loaded and where the service lists them. */
export function useStorages() {
  const { data } = useQuery({
    ...storageProvidersQuery(),
    refetchInterval: ({ state }) => state.data !== null && namesMs,
  });
  const find = (id: number) => data?.data.find((one) => one.id === id);
  const nameOf = (id: number): string => find(id)?.name ?? `Storage provider ${id}`;
  return {
    nameOf,
    /** Returns the name and the location. */
    describe(id: number): string {
      const place = find(id)?.place;
      return place === undefined ? nameOf(id) : `${nameOf(id)} (${place})`;
    },
  };
}
