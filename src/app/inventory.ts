// Servers and their sites: extras, so each may be null from a service that has none.
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

/** What a site is called where its service does not say. */
export const siteName = (id: number, site: { name: string } | null | undefined): string =>
  site?.name ?? `Site ${id}`;

/** What a server is called where its service does not say. */
export const serverName = (id: number, server: { name: string } | null | undefined): string =>
  server?.name ?? `Server ${id}`;
