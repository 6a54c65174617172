// What the form offers to choose from, as far as the service lists it.
import { useQuery } from "@tanstack/react-query";
import { everySiteQuery } from "../app/inventory.ts";
import { everyDatabaseQuery, storageProvidersQuery } from "./queries.ts";
import type { Choices } from "./SourceFields.tsx";

export function useChoices(serverId: number | null): Choices {
  const isKnown = serverId !== null;
  const { data: sites } = useQuery({ ...everySiteQuery(serverId ?? 0), enabled: isKnown });
  const { data: databases } = useQuery({ ...everyDatabaseQuery(serverId ?? 0), enabled: isKnown });
  const { data: providers } = useQuery(storageProvidersQuery());
  return {
    sites: sites?.data.map(({ id, name }) => ({ id, label: name })) ?? null,
    databases:
      databases?.data.map(({ id, name, engine }) => ({ id, label: `${name} (${engine})` })) ?? null,
    providers:
      providers?.data.map(({ id, name, place }) => ({ id, label: `${name} (${place})` })) ?? null,
  };
}
