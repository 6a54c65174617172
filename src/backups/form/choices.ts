// The options of the form, as far as the service lists them.
import { useQuery } from "@tanstack/react-query";
import { everySiteQuery } from "../../app/inventory.ts";
import { everyDatabaseQuery, storageProvidersQuery } from "../queries.ts";

export type Choice = { id: number; name: string; label: string };

/** Each list is null where the service does not provide it. */
export type Choices = {
  databases: readonly Choice[] | null;
  sites: readonly Choice[] | null;
  providers: readonly Choice[] | null;
};

export function useChoices(serverId: number | null): Choices {
  const isKnown = serverId !== null;
  const { data: sites } = useQuery({ ...everySiteQuery(serverId ?? 0), enabled: isKnown });
  const { data: databases } = useQuery({ ...everyDatabaseQuery(serverId ?? 0), enabled: isKnown });
  const { data: providers } = useQuery(storageProvidersQuery());
  return {
    sites: sites?.data.map(({ id, name }) => ({ id, name, label: name })) ?? null,
    databases:
      databases?.data.map(({ id, name, engine, scope }) => ({
        id,
        name,
        label: `${name} (${engine}${scope === "server" ? ", all databases" : ""})`,
      })) ?? null,
    providers:
      providers?.data.map(({ id, name, place }) => ({ id, name, label: `${name} (${place})` })) ??
      null,
  };
}
