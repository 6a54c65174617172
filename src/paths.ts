// Every address of the dashboard. Links are built here and nowhere else.
import type { ListView } from "./api/list-query.ts";
import { pageQuery } from "./api/page-query.ts";

const withQuery = (path: string, query: Record<string, string | undefined>) => {
  const given = Object.entries(query).filter(
    // What is empty is what one gets without it.
    (pair): pair is [string, string] => Boolean(pair[1]),
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
};

/** A list, or what is wanted of it: `{ status: "failed" }`. */
const list = (path: string, { page = 1, status, q, sort, per_page }: ListView) =>
  withQuery(path, { status, q, sort, per_page, ...pageQuery(page) });

type ActivityFilter = { server?: number; site?: number } & Partial<
  Record<"kind" | "actor" | "q" | "from" | "to", string>
>;

/** Which deliveries of a webhook a page shows. */
export type DeliveriesView = {
  page?: number | undefined;
  status?: string | undefined;
  event?: string | undefined;
  /** An id, or a message's. */
  q?: string | undefined;
  delivery?: number | undefined;
};

export const paths = {
  home: (page = 1) => withQuery("/", pageQuery(page)),
  /** What of everything is wrong, of one kind. */
  problems: (show: string) => withQuery("/", { show }),
  /** @param from where to go once connected */
  connect: (from?: string) =>
    withQuery("/connect", { from: from === undefined || from === "/" ? undefined : from }),
  workers: (siteId: number, view: ListView = {}) => list(`/sites/${siteId}/workers`, view),
  /** @param like a worker whose settings the new one begins with */
  newWorker: (siteId: number, like?: number) =>
    withQuery(`/sites/${siteId}/workers/new`, { like: like?.toString() }),
  /** @param settings what the form begins with, as the body of the request has it */
  newWorkerWith: (siteId: number, settings: object) =>
    withQuery(`/sites/${siteId}/workers/new`, { with: JSON.stringify(settings) }),
  worker: (id: number) => `/workers/${id}`,
  editWorker: (id: number) => `/workers/${id}/edit`,
  webhooks: (siteId: number, view: ListView = {}) => list(`/sites/${siteId}/webhooks`, view),
  newWebhook: (siteId: number) => `/sites/${siteId}/webhooks/new`,
  /** @param view which of its deliveries are shown, and which one is opened beside the others */
  webhook: (id: number, view: DeliveriesView = {}) => {
    const { page, status, event, q, delivery } = view;
    return withQuery(`/webhooks/${id}`, {
      status,
      event,
      q,
      ...pageQuery(page ?? 1),
      delivery: delivery === undefined ? undefined : String(delivery),
    });
  },
  editWebhook: (id: number) => `/webhooks/${id}/edit`,
  notifications: (siteId: number) => `/sites/${siteId}/notifications`,
  server: (serverId: number) => `/servers/${serverId}`,
  serverNotifications: (serverId: number) => `/servers/${serverId}/notifications`,
  activity: ({ server, site, ...others }: ActivityFilter = {}) =>
    withQuery("/activity", {
      server: server === undefined ? undefined : String(server),
      site: site === undefined ? undefined : String(site),
      ...others,
    }),
  settings: (page = 1) => withQuery("/settings", pageQuery(page)),
  help: (page?: string, anchor = "") =>
    `/help${page === undefined ? "" : `/${page}`}${anchor && `#${anchor}`}`,
  newToken: () => "/settings/tokens/new",
  inventory: () => "/settings/inventory",
  /** @param kind as in the address of the interface, e.g. `storage-providers` */
  newEntry: (kind: string) => `/settings/inventory/${kind}/new`,
  editEntry: (kind: string, id: number) => `/settings/inventory/${kind}/${id}/edit`,
  adoptBackups: (providerId: number) => `/settings/inventory/storage-providers/${providerId}/adopt`,
  /** @param chosen what the form begins with; `of`: "database-7" or "site-3" */
  importFile: ({ server, storage, of }: { server?: number; storage?: number; of?: string }) =>
    withQuery("/import", { server: server?.toString(), storage: storage?.toString(), of }),
  backups: (serverId: number, view: ListView = {}) => list(`/servers/${serverId}/backups`, view),
  /** @param of what to back up, chosen beforehand */
  newBackupConfiguration: (serverId: number, of?: { type: string; id: number }) =>
    withQuery(`/servers/${serverId}/backups/new`, {
      type: of?.type,
      id: of === undefined ? undefined : String(of.id),
    }),
  backupConfiguration: (id: number, view: ListView = {}) =>
    list(`/backup-configurations/${id}`, view),
  editBackupConfiguration: (id: number) => `/backup-configurations/${id}/edit`,
  backup: (id: number) => `/backups/${id}`,
  /** @param view which part of a folder's archive is shown */
  backupContents: (id: number, view: { folder?: string; q?: string; page?: number } = {}) =>
    withQuery(`/backups/${id}/contents`, {
      folder: view.folder,
      q: view.q,
      ...pageQuery(view.page ?? 1),
    }),
  restoreElsewhere: (id: number) => `/backups/${id}/restore`,
};

/** The page to go back to after connecting; an address of another origin is not one. */
export function readFrom(search: URLSearchParams): string {
  const from = search.get("from") ?? "/";
  // "//host" and "/\host" are other origins to a browser.
  return /^\/(?![/\\])/.test(from) ? from : "/";
}

/** An id as it stands in an address, or null when it cannot be one. */
export const readId = (text: string | undefined): number | null =>
  // What is larger than JSON can tell apart would name another thing.
  text !== undefined && /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text))
    ? Number(text)
    : null;

/** A text as it stands in an address; empty where it cannot be asked for: no name and no search holds a NUL. */
export const readText = (text: string | null): string =>
  text === null || text.includes("\0") ? "" : text;
