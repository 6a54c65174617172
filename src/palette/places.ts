// Entries that open pages: of the places in the inventory or on this device, and of objects in the cache.
import { useQueries, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useMemo } from "react";
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import type { Overview } from "../../contract/overview.ts";
import type { Page } from "../../contract/paging.ts";
import type { SearchResults } from "../../contract/search.ts";
import type { Server, Site } from "../../contract/servers.ts";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { workerName } from "../../contract/workers/worker-name.ts";
import { queryClient } from "../api/query.ts";
import { sessions } from "../api/session.ts";
import {
  everyServerQuery,
  everySiteQuery,
  overviewQuery,
  serverName,
  siteName,
} from "../app/inventory.ts";
import { type KnownPlace, knownServers, knownSites } from "../app/place/known-places.ts";
import { paths } from "../paths.ts";
import { runAllOf } from "./actions.ts";
import { type Entry, toPage } from "./entry.ts";
import { serverPages, sitePages } from "./place-pages.ts";

type Named = { id: number; name: string };

type Places = {
  servers: readonly Named[];
  sites: readonly Named[];
  /** False for a service that lists no servers: the places are then those that were opened before. */
  isWhole: boolean;
};

/** Sorted from the most to the least requested pages. */
export function placeEntries({ servers, sites, isWhole }: Places): Entry[] {
  const home = isWhole ? "Servers" : "Sites and servers";
  const ofServers = servers.map(serverPages);
  const ofSites = sites.map(sitePages);
  const eachFirst = (pages: readonly (readonly Entry[])[]) =>
    Array.from({ length: Math.max(0, ...pages.map(({ length }) => length)) }, (_, place) =>
      pages.flatMap((some) => some[place] ?? []),
    ).flat();
  return [
    toPage("server", "Overview", home, paths.home()),
    ...(isWhole ? [toPage("activity", "Activity", "", paths.activity())] : []),
    ...eachFirst([...ofServers, ...ofSites]).filter(
      // A service that lists no servers may lack these pages.
      ({ key }) => isWhole || !/^\/servers\/\d+(?:\/notifications)?$/.test(key),
    ),
  ];
}

/** Words that name a page of a place, not the place alone. */
const pageWords = /(?<![\p{L}\d])(?:new|work|webh|noti|back|serv)[\p{L}]*/iu;

/** Returns the pages of known or found places, where the text names one of them. */
export const namedPages = (text: string, { servers, sites }: Omit<Places, "isWhole">): Entry[] => [
  ...(pageWords.test(text) ? [...sites.flatMap(sitePages), ...servers.flatMap(serverPages)] : []),
  ...(/^run\b/i.test(text.trim())
    ? servers.map((server) => runAllOf(server, `Run all backups on ${server.name}`))
    : []),
];

type Seen = {
  configurations: readonly Pick<BackupConfiguration, "id" | "name">[];
  workers: readonly Pick<Worker, "id" | "connection" | "queue" | "site_id">[];
  webhooks: readonly Pick<Webhook, "id" | "url">[];
};

/** @param sites for the names of the sites of objects */
export function seenEntries(
  { configurations, workers, webhooks }: Seen,
  sites: readonly Named[],
): Entry[] {
  const nameOf = (siteId: number | undefined) => sites.find(({ id }) => id === siteId)?.name;
  return [
    ...configurations.map(({ id, name }) =>
      toPage("backup", name, `Configuration ${id}`, paths.backupConfiguration(id)),
    ),
    ...workers.map((worker) =>
      toPage(
        "restart",
        workerName(worker),
        [`Worker ${worker.id}`, nameOf(worker.site_id)]
          .filter((part) => part !== undefined)
          .join(" · "),
        paths.worker(worker.id),
      ),
    ),
    ...webhooks.map(({ id, url }) => toPage("webhook", url, `Webhook ${id}`, paths.webhook(id))),
  ];
}

/** Servers and sites rarely change. */
const staleTime = 60_000;

/** One request each; the sites of further servers are reached from their server's page. */
const maxAsked = 60;

/** Removes duplicates; the last one is kept. */
export const byId = <Item extends { id: number }>(items: readonly Item[]): Item[] => [
  ...new Map(items.map((item) => [item.id, item])).values(),
];

/** Returns the places in recent results: before "shop webhooks", the service was asked for "shop". */
export function foundPlaces(): { servers: readonly Named[]; sites: readonly Named[] } {
  const answers = queryClient.getQueriesData<SearchResults | null>({ queryKey: ["search"] });
  const hits = answers.flatMap(([, answer]) => answer?.data ?? []);
  return {
    servers: hits.filter(({ kind }) => kind === "server"),
    sites: hits.filter(({ kind }) => kind === "site"),
  };
}

/** Returns the cached objects of a kind, from lists and from their own pages. */
function cached<Item extends { id: number }>(list: string, show: string): Item[] {
  const lists = queryClient.getQueriesData<Page<Item>>({ queryKey: [list] });
  const shown = queryClient.getQueriesData<Item>({ queryKey: [show] });
  const items = [
    ...lists.flatMap(([, page]) => page?.data ?? []),
    ...shown.flatMap(([, item]) => item ?? []),
  ];
  return byId(items);
}

export const seenThings = (): Seen => ({
  configurations: cached<BackupConfiguration>(
    "listBackupConfigurations",
    "showBackupConfiguration",
  ),
  workers: cached<Worker>("listWorkers", "showWorker"),
  webhooks: cached<Webhook>("listWebhooks", "showWebhook"),
});

/** Returns the ids of the places whose lists are cached. */
function idsInCache(...lists: string[]): number[] {
  const found = lists.flatMap((list) => queryClient.getQueriesData({ queryKey: [list] }));
  return found.flatMap(([[, params], data]) =>
    data !== undefined && typeof params === "object" && params !== null && "id" in params
      ? Number(params.id)
      : [],
  );
}

/** For a service that lists no places: those that were opened by id, or are in the cache. */
function rememberedPlaces(): Places {
  const address = sessions.current()?.address;
  const idsOf = (places: readonly KnownPlace[]) =>
    places.filter((place) => place.address === address).map(({ id }) => id);
  const servers = [...idsOf(knownServers.get()), ...idsInCache("listBackupConfigurations")];
  const sites = [
    ...idsOf(knownSites.get()),
    ...idsInCache("listWorkers", "listWebhooks", "listNotifications"),
  ];
  return {
    servers: [...new Set(servers)].map((id) => ({ id, name: serverName(id, null) })),
    sites: [...new Set(sites)].map((id) => ({ id, name: siteName(id, null) })),
    isWhole: false,
  };
}

/** Defined once, so that its result stays the same object while nothing has changed. */
const combine = (lists: readonly UseQueryResult<Page<Site> | null>[]) => ({
  sites: lists.flatMap(({ data }) => data?.data ?? []),
  isLoading: lists.some((one) => one.isLoading),
});

/** Returns the places that the pages and the navigation have loaded already. */
export function seenPlaces(): { servers: readonly Named[]; sites: readonly Named[] } {
  const overview = queryClient.getQueryData<Overview | null>(overviewQuery().queryKey);
  const servers = overview?.servers ?? [];
  return {
    servers: [...servers, ...cached<Server>("listServers", "showServer")],
    sites: [...servers.flatMap(({ sites }) => sites), ...cached<Site>("listSites", "showSite")],
  };
}

/**
 * Loads all places, with a request for each server: for a service without a search.
 * @param isNeeded whether to load anything
 */
export function usePlaces(isNeeded: boolean): { places: Places; isLoading: boolean } {
  const { data: list, isLoading: isAsking } = useQuery({
    ...everyServerQuery(),
    staleTime,
    enabled: isNeeded,
  });
  const asked = (list?.data ?? []).slice(0, maxAsked);
  const { sites, isLoading } = useQueries({
    queries: asked.map(({ id }) => ({ ...everySiteQuery(id), staleTime, enabled: isNeeded })),
    combine,
  });
  const places = useMemo(
    () =>
      list === null ? rememberedPlaces() : { servers: list?.data ?? [], sites, isWhole: true },
    [list, sites],
  );
  return { places, isLoading: isAsking || isLoading };
}
