// Servers and their sites: extras, so each may be null from a service that has none.
import { maxPerPage } from "../../contract/paging.ts";
import type { Server, Site } from "../../contract/servers.ts";
import { fetchAllPages } from "../api/fetch-all-pages.ts";
import { extraQuery } from "../api/query.ts";

export const serversQuery = (page = 1) =>
  extraQuery("listServers", {}, page > 1 ? { page: String(page) } : {});

const wholePage = (page: number) => ({
  per_page: String(maxPerPage),
  ...(page > 1 && { page: String(page) }),
});

export const everyServerQuery = () =>
  fetchAllPages<Server, null>((page) => extraQuery("listServers", {}, wholePage(page)));

export const everySiteQuery = (serverId: number) =>
  fetchAllPages<Site, null>((page) => extraQuery("listSites", { id: serverId }, wholePage(page)));

export const serverQuery = (id: number) => extraQuery("showServer", { id });

export const sitesQuery = (serverId: number) =>
  extraQuery("listSites", { id: serverId }, { per_page: String(maxPerPage) });

export const siteQuery = (id: number) => extraQuery("showSite", { id });

export const overviewQuery = () => extraQuery("showOverview", {});

/** What a site is called where its service does not say. */
export const siteName = (id: number, site: { name: string } | null | undefined): string =>
  site?.name ?? `Site ${id}`;

/** What a server is called where its service does not say. */
export const serverName = (id: number, server: { name: string } | null | undefined): string =>
  server?.name ?? `Server ${id}`;
