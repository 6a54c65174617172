// Lists what index.html requests before the dashboard's code has loaded: the code and the first API requests of each page.
// The loaders remain authoritative: a request that is missing here is only sent later.
import type { operations } from "../../contract/operations.ts";

/** Preloaded where the address contains a code, which has to be exchanged for a token before any other request. */
export const linkModule = "app/connect/sign-in-link.ts";

type AnyPath = (typeof operations)[keyof typeof operations]["path"];

type PreloadedPage = {
  /** Path as in `routes.tsx`. */
  path: string;
  /** Module of the page, relative to `src`. */
  module: string;
  /** API requests. `{id}` is the id in the page's path. */
  asks: readonly (AnyPath | `${AnyPath}?${string}`)[];
};

export const preloadedPages: readonly PreloadedPage[] = [
  { path: "/", module: "app/start/HomePage.tsx", asks: [] },
  {
    path: "/servers/:id/backups",
    module: "backups/list/BackupsPage.tsx",
    asks: ["/api/server/{id}/backups?sort=attention", "/api/server/{id}"],
  },
  {
    path: "/backup-configurations/:id",
    module: "backups/configuration/ConfigurationPage.tsx",
    asks: [
      "/api/backup-configuration/{id}",
      "/api/backup-configuration/{id}/backups?sort=-id",
      "/api/storage-providers?per_page=100",
    ],
  },
  { path: "/backups/:id", module: "backups/backup/BackupPage.tsx", asks: ["/api/backup/{id}"] },
  {
    path: "/sites/:id/workers",
    module: "workers/WorkersPage.tsx",
    asks: ["/api/site/{id}/workers?sort=attention", "/api/site/{id}"],
  },
  { path: "/workers/:id", module: "workers/WorkerPage.tsx", asks: ["/api/worker/{id}"] },
  {
    path: "/sites/:id/webhooks",
    module: "webhooks/WebhooksPage.tsx",
    asks: ["/api/site/{id}/webhooks?sort=attention", "/api/site/{id}"],
  },
  {
    path: "/webhooks/:id",
    module: "webhooks/WebhookPage.tsx",
    asks: ["/api/site-webhook/{id}", "/api/site-webhook/{id}/deliveries"],
  },
  {
    path: "/sites/:id/notifications",
    module: "notifications/NotificationsPage.tsx",
    asks: ["/api/site/{id}"],
  },
  {
    path: "/servers/:id/notifications",
    module: "notifications/ServerNotificationsPage.tsx",
    asks: ["/api/server/{id}"],
  },
  { path: "/activity", module: "activity/ActivityPage.tsx", asks: [] },
];

/** The sidebar of every page needs it, on screens that are wide enough for one. */
const overview: AnyPath = "/api/overview";

type Preload = { module: string; asks: string[] };

/** @returns what to preload at an address; null = none of the pages above. @param isWide whether the sidebar is visible */
export function preloadFor(pathname: string, search: string, isWide: boolean): Preload | null {
  for (const { path, module, asks } of preloadedPages) {
    const pattern = new RegExp(`^${path.replace(":id", "([1-9]\\d{0,9})")}/?$`);
    const match = pattern.exec(pathname);
    if (match === null) continue;
    // Only the loader can translate a query, such as a filter or the page of a list.
    const own = search === "" ? asks.map((ask) => ask.replace("{id}", match[1] ?? "")) : [];
    return { module, asks: isWide || path === "/" ? [...own, overview] : own };
  }
  return null;
}
