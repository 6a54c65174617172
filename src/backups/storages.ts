// What the storages are called, for whoever shows where backups are.
import { useQuery } from "@tanstack/react-query";
import { storageProvidersQuery } from "./queries.ts";

/** Somebody may give one another name. */
const namesMs = 60_000;

/** Their names are known once the service has told them, and where it can. */
export function useStorages() {
  const { data } = useQuery({
    ...storageProvidersQuery(),
    refetchInterval: ({ state }) => state.data !== null && namesMs,
  });
  const find = (id: number) => data?.data.find((one) => one.id === id);
  const nameOf = (id: number): string => find(id)?.name ?? `Storage provider ${id}`;
  return {
    nameOf,
    /** The name, and where it is. */
    describe(id: number): string {
      const place = find(id)?.place;
      return place === undefined ? nameOf(id) : `${nameOf(id)} (${place})`;
    },
  };
}
