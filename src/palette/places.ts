// Where the palette leads: the pages of every place that is known, of the inventory or of this device's memory, and the
// things that were on screen.
import { useQueries, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useMemo } from "react";
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import type { Page } from "../../contract/paging.ts";
import type { Site } from "../../contract/servers.ts";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { workerName } from "../../contract/workers/worker-name.ts";
import { queryClient } from "../api/query.ts";
import { sessions } from "../api/session.ts";
import { everyServerQuery, everySiteQuery, serverName, siteName } from "../app/inventory.ts";
import { type KnownPlace, knownServers, knownSites } from "../app/known-places.ts";
import { paths } from "../paths.ts";
import { type Entry, toPage } from "./entry.ts";

type Named = { id: number; name: string };

type Places = {
  servers: readonly Named[];
  sites: readonly Named[];
  /** False from a service that lists no servers: these are then the ones that were opened before. */
  isWhole: boolean;
};

/** From what is looked for most to what is looked for least. */
export function placeEntries({ servers, sites, isWhole }: Places): Entry[] {
  const home = isWhole ? "Servers" : "Sites and servers";
  return [
    toPage("server", "Overview", home, paths.home()),
    ...(isWhole ? [toPage("activity", "Activity", "", paths.activity())] : []),
    ...servers.map(({ id, name }) =>
      toPage("backup", `${name} backups`, `Server ${id}`, paths.backups(id)),
    ),
    ...sites.map(({ id, name }) =>
      toPage("site", `${name} workers`, `Site ${id}`, paths.workers(id)),
    ),
    ...sites.map(({ id, name }) =>
      toPage("webhook", `${name} webhooks`, `Site ${id}`, paths.webhooks(id)),
    ),
    ...sites.map(({ id, name }) =>
      toPage("bell", `${name} notifications`, `Site ${id}`, paths.notifications(id)),
    ),
    // Of a service that lists no servers nobody knows whether it has these.
    ...(isWhole ? servers : []).map(({ id, name }) =>
      toPage("bell", `${name} notifications`, `Server ${id}`, paths.serverNotifications(id)),
    ),
    ...sites.map(({ id, name }) =>
      toPage("plus", `New worker on ${name}`, "", paths.newWorker(id)),
    ),
    ...sites.map(({ id, name }) =>
      toPage("plus", `New webhook on ${name}`, "", paths.newWebhook(id)),
    ),
    ...servers.map(({ id, name }) =>
      toPage("plus", `New backup on ${name}`, "", paths.newBackupConfiguration(id)),
    ),
    toPage("settings", "Settings", "Tokens, appearance, device", paths.settings()),
    toPage("key", "Connect to another service", "", paths.connect()),
    {
      key: "disconnect",
      group: "go",
      icon: "leave",
      label: "Disconnect",
      detail: "",
      act: { kind: "run", run: () => sessions.end() },
    },
  ];
}

type Seen = {
  configurations: readonly Pick<BackupConfiguration, "id" | "name">[];
  workers: readonly Pick<Worker, "id" | "connection" | "queue" | "site_id">[];
  webhooks: readonly Pick<Webhook, "id" | "url">[];
};

/** @param sites for the names of what belongs to them */
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

/** Servers and sites come and go seldom. */
const staleTime = 60_000;

/** A request each; the sites of further servers are reached from their server's page. */
const maxAsked = 60;

/** Whatever the cache holds of one kind of thing: from the lists, and from the things' own pages. */
function cached<Item extends { id: number }>(list: string, show: string): Item[] {
  const lists = queryClient.getQueriesData<Page<Item>>({ queryKey: [list] });
  const shown = queryClient.getQueriesData<Item>({ queryKey: [show] });
  const items = [
    ...lists.flatMap(([, page]) => page?.data ?? []),
    ...shown.flatMap(([, item]) => item ?? []),
  ];
  return [...new Map(items.map((item) => [item.id, item])).values()];
}

export const seenThings = (): Seen => ({
  configurations: cached<BackupConfiguration>(
    "listBackupConfigurations",
    "showBackupConfiguration",
  ),
  workers: cached<Worker>("listWorkers", "showWorker"),
  webhooks: cached<Webhook>("listWebhooks", "showWebhook"),
});

/** The ids of the places whose lists were on screen. */
function idsInCache(...lists: string[]): number[] {
  const found = lists.flatMap((list) => queryClient.getQueriesData({ queryKey: [list] }));
  return found.flatMap(([[, params], data]) =>
    data !== undefined && typeof params === "object" && params !== null && "id" in params
      ? Number(params.id)
      : [],
  );
}

/** From a service that lists no places: what was opened by its id, or was on screen. */
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

/** The same for all renders, so that what comes of it is the same while nothing has changed. */
const combine = (lists: readonly UseQueryResult<Page<Site> | null>[]) => ({
  sites: lists.flatMap(({ data }) => data?.data ?? []),
  isLoading: lists.some((one) => one.isLoading),
});

/** What is known so far, and whether more is on its way. */
export function usePlaces(): { places: Places; isLoading: boolean } {
  const { data: list, isLoading: isAsking } = useQuery({ ...everyServerQuery(), staleTime });
  const asked = (list?.data ?? []).slice(0, maxAsked);
  const { sites, isLoading } = useQueries({
    queries: asked.map(({ id }) => ({ ...everySiteQuery(id), staleTime })),
    combine,
  });
  const places = useMemo(
    () =>
      list === null ? rememberedPlaces() : { servers: list?.data ?? [], sites, isWhole: true },
    [list, sites],
  );
  return { places, isLoading: isAsking || isLoading };
}
