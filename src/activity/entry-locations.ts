// On which server and site an entry's thing is, in the names that people know.
import { useQueries, useQuery } from "@tanstack/react-query";
import type { ActivityEntry } from "../../contract/activity.ts";
import { everyServerQuery, serverName, siteName, sitesQuery } from "../app/inventory.ts";
import type { Filter } from "./filter.ts";

/** @returns what to say of an entry; nothing that the filter or a lone server makes plain */
export function useLocations(
  entries: readonly ActivityEntry[],
  filter: Filter,
): (entry: ActivityEntry) => string {
  const { data: servers } = useQuery(everyServerQuery());
  // Of a server that is gone there are no sites to ask for; a service that lists none may have any.
  const isThere = (id: number) =>
    servers === null || servers?.data.some((server) => server.id === id) === true;
  const serverIds = [...new Set(entries.flatMap(({ server_id: id }) => id ?? []))].filter(isThere);
  // The left side asks for most of them too.
  const lists = useQueries({ queries: serverIds.map((id) => sitesQuery(id)) });
  const sites = new Map(
    lists.flatMap(({ data }) => (data?.data ?? []).map((site) => [site.id, site] as const)),
  );
  const hasOneServer = servers?.data.length === 1;

  return ({ server_id: serverId, site_id: siteId, object }) => {
    const site =
      siteId === null || filter.site !== undefined || object.type === "site"
        ? null
        : siteName(siteId, sites.get(siteId));
    const server =
      serverId === null ||
      hasOneServer ||
      filter.server !== undefined ||
      (filter.site !== undefined && siteId !== null)
        ? null
        : serverName(
            serverId,
            servers?.data.find(({ id }) => id === serverId),
          );
    return [site, server].filter((name) => name !== null).join(" on ");
  };
}
