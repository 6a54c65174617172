// All URLs of the dashboard. Links are built only here.
import type { ListView } from "./api/list-query.ts";
import { pageQuery } from "./api/page-query.ts";

const withQuery = (path: string, query: Record<string, string | undefined>) => {
  const given = Object.entries(query).filter(
    // Empty values are the defaults.
    (pair): pair is [string, string] => Boolean(pair[1]),
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
};

/** Returns the URL of a list, with an optional filter: `{ status: "failed" }`. */
const list = (path: string, { page = 1, status, q, sort, per_page }: ListView) =>
  withQuery(path, { status, q, sort, per_page, ...pageQuery(page) });

type ActivityFilter = { server?: number; site?: number } & Partial<
  Record<"kind" | "actor" | "q" | "from" | "to", string>
>;

/** Parameters of a webhook's list of deliveries. */
export type DeliveriesView = {
  page?: number | undefined;
  status?: string | undefined;
  event?: string | undefined;
  /** Id of a delivery, or a message id. */
  q?: string | undefined;
  delivery?: number | undefined;
};

export const paths = {
  home: (page = 1) => withQuery("/", pageQuery(page)),
  /** The overview's problems of one kind. */
  problems: (show: string) => withQuery("/", { show }),
  /** @param from where to go after connecting */
  connect: (from?: string) =>
    withQuery("/connect", { from: from === undefined || from === "/" ? undefined : from }),
  workers: (siteId: number, view: ListView = {}) => list(`/sites/${siteId}/workers`, view),
  /** @param like a worker whose options are copied */
  newWorker: (siteId: number, like?: number) =>
    withQuery(`/sites/${siteId}/workers/new`, { like: like?.toString() }),
  /** @param settings initial values, as in the body of the request */
  newWorkerWith: (siteId: number, settings: object) =>
    withQuery(`/sites/${siteId}/workers/new`, { with: JSON.stringify(settings) }),
  worker: (id: number) => `/workers/${id}`,
  editWorker: (id: number) => `/workers/${id}/edit`,
  webhooks: (siteId: number, view: ListView = {}) => list(`/sites/${siteId}/webhooks`, view),
  newWebhook: (siteId: number) => `/sites/${siteId}/webhooks/new`,
  /** @param view filter of its deliveries, and the one whose details are open */
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
  /** @param kind as in the interface's paths, e.g. `storage-providers` */
  newEntry: (kind: string) => `/settings/inventory/${kind}/new`,
  editEntry: (kind: string, id: number) => `/settings/inventory/${kind}/${id}/edit`,
  adoptBackups: (providerId: number) => `/settings/inventory/storage-providers/${providerId}/adopt`,
  /** @param chosen initial values; `of`: "database-7" or "site-3" */
  importFile: ({ server, storage, of }: { server?: number; storage?: number; of?: string }) =>
    withQuery("/import", { server: server?.toString(), storage: storage?.toString(), of }),
  backups: (serverId: number, view: ListView = {}) => list(`/servers/${serverId}/backups`, view),
  /** @param of the preselected source */
  newBackupConfiguration: (serverId: number, of?: { type: string; id: number }) =>
    withQuery(`/servers/${serverId}/backups/new`, {
      type: of?.type,
      id: of === undefined ? undefined : String(of.id),
    }),
  backupConfiguration: (id: number, view: ListView = {}) =>
    list(`/backup-configurations/${id}`, view),
  editBackupConfiguration: (id: number) => `/backup-configurations/${id}/edit`,
  backup: (id: number) => `/backups/${id}`,
  /** @param view the part of a folder's archive that is shown */
  backupContents: (id: number, view: { folder?: string; q?: string; page?: number } = {}) =>
    withQuery(`/backups/${id}/contents`, {
      folder: view.folder,
      q: view.q,
      ...pageQuery(view.page ?? 1),
    }),
  restoreElsewhere: (id: number) => `/backups/${id}/restore`,
};

/** Returns the page to go to after connecting. URLs of other origins are rejected. */
export function readFrom(search: URLSearchParams): string {
  const from = search.get("from") ?? "/";
  // Browsers resolve "//host" and "/\host" to other origins.
  return /^\/(?![/\\])/.test(from) ? from : "/";
}

/** Parses an id in a URL; null where it is invalid. */
export const readId = (text: string | undefined): number | null =>
  // A larger number would lose precision, and name another object.
  text !== undefined && /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text))
    ? Number(text)
    : null;

/** Parses a text in a URL; empty where it contains NUL, which no name or search does. */
export const readText = (text: string | null): string =>
  text === null || text.includes("\0") ? "" : text;
