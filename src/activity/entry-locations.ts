// On which server and site an entry's thing is, in the names that people know.
import { useQueries, useQuery } from "@tanstack/react-query";
import type { ActivityEntry } from "../../contract/activity.ts";
import {
  everyServerQuery,
  isWhole,
  overviewQuery,
  serverName,
  siteName,
  sitesQuery,
} from "../app/inventory.ts";
import type { Filter } from "./filter.ts";

/** @returns what to say of an entry; nothing that the filter or a lone server makes plain */
export function useLocations(
  entries: readonly ActivityEntry[],
  filter: Filter,
): (entry: ActivityEntry) => string {
  const { data: servers } = useQuery(everyServerQuery());
  // The navigation asks for it too. A service that has none is asked for each server's sites.
  const { data: overview } = useQuery(overviewQuery());
  const isAsked = (id: number) =>
    overview !== undefined &&
    !isWhole(overview) &&
    // Of a server that is gone there are no sites to ask for; a service that lists none may have any.
    (servers === null || servers?.data.some((server) => server.id === id) === true);
  const serverIds = [...new Set(entries.flatMap(({ server_id: id }) => id ?? []))].filter(isAsked);
  const lists = useQueries({ queries: serverIds.map((id) => sitesQuery(id)) });
  const known = isWhole(overview)
    ? overview.servers.flatMap((server) => server.sites)
    : lists.flatMap(({ data }) => data?.data ?? []);
  const sites = new Map(known.map((site) => [site.id, site]));
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
