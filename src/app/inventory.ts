// Queries of servers and their sites: extras, so each may be null where a service lacks them.
import type { Overview } from "../../contract/overview.ts";
import type { Server, Site } from "../../contract/servers.ts";
import { fetchAllPages } from "../api/fetch-all-pages.ts";
import { largePageQuery, pageQuery } from "../api/page-query.ts";
import { extraQuery } from "../api/query.ts";

export const serversQuery = (page = 1) => extraQuery("listServers", {}, pageQuery(page));

export const everyServerQuery = () =>
  fetchAllPages<Server, null>((page) => extraQuery("listServers", {}, largePageQuery(page)));

export const everySiteQuery = (serverId: number) =>
  fetchAllPages<Site, null>((page) =>
    extraQuery("listSites", { id: serverId }, largePageQuery(page)),
  );

export const serverQuery = (id: number) => extraQuery("showServer", { id });

export const sitesQuery = (serverId: number) =>
  extraQuery("listSites", { id: serverId }, largePageQuery());

export const siteQuery = (id: number) => extraQuery("showSite", { id });

export const overviewQuery = () => extraQuery("showOverview", {});

/** How often the overview is polled; a run that is 30 s overdue is not late yet. */
export const overviewMs = 30_000;

/** An overview with the parts that earlier services lack. */
type LaterPart = "protection" | "servers";
export type WholeOverview = Overview & { [Part in LaterPart]: NonNullable<Overview[Part]> };

export const isWhole = (overview: Overview | null | undefined): overview is WholeOverview =>
  overview?.protection !== undefined && overview.servers !== undefined;

/** Name of a site, also where its service does not return it. */
export const siteName = (id: number, site: { name: string } | null | undefined): string =>
  site?.name ?? `Site ${id}`;

/** Name of a server, also where its service does not return it. */
export const serverName = (id: number, server: { name: string } | null | undefined): string =>
  server?.name ?? `Server ${id}`;
