// The names of the server and site of an entry's object.
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

/** @returns the location of an entry; empty where the filter or a single server makes it obvious */
export function useLocations(
  entries: readonly ActivityEntry[],
  filter: Filter,
): (entry: ActivityEntry) => string {
  const { data: servers } = useQuery(everyServerQuery());
  // The navigation loads it, too. A service without an overview is asked for the sites of each server.
  const { data: overview } = useQuery(overviewQuery());
  const isAsked = (id: number) =>
    overview !== undefined &&
    !isWhole(overview) &&
    // A deleted server has no sites to request; a service that lists no servers may have any.
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
