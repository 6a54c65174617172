// What index.html asks for before the dashboard's own code has come: each page's code and its first questions.
// The loaders stay the ones to say what a page needs; what is missing here is only asked later.
import type { operations } from "../../contract/operations.ts";

/** Loaded first where the address holds a code, and nothing can be asked without the token that it is exchanged for. */
export const linkModule = "app/sign-in-link.ts";

type AnyPath = (typeof operations)[keyof typeof operations]["path"];

type PreloadedPage = {
  /** As in `routes.tsx`. */
  path: string;
  /** The module of the page, below `src`. */
  module: string;
  /** The `{id}` of all of them is the page's. */
  asks: readonly (AnyPath | `${AnyPath}?${string}`)[];
};

export const preloadedPages: readonly PreloadedPage[] = [
  { path: "/", module: "app/HomePage.tsx", asks: [] },
  {
    path: "/servers/:id/backups",
    module: "backups/BackupsPage.tsx",
    asks: ["/api/server/{id}/backups?sort=attention", "/api/server/{id}"],
  },
  {
    path: "/backup-configurations/:id",
    module: "backups/ConfigurationPage.tsx",
    asks: [
      "/api/backup-configuration/{id}",
      "/api/backup-configuration/{id}/backups?sort=-id",
      "/api/storage-providers?per_page=100",
    ],
  },
  { path: "/backups/:id", module: "backups/BackupPage.tsx", asks: ["/api/backup/{id}"] },
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

/** The left side of every page shows it, where there is room for one. */
const overview: AnyPath = "/api/overview";

type Preload = { module: string; asks: string[] };

/** What to ask for at an address; null = it is none of the pages above. @param isWide whether the left side is in sight */
export function preloadFor(pathname: string, search: string, isWide: boolean): Preload | null {
  for (const { path, module, asks } of preloadedPages) {
    const pattern = new RegExp(`^${path.replace(":id", "([1-9]\\d{0,9})")}/?$`);
    const match = pattern.exec(pathname);
    if (match === null) continue;
    // Another page of a list, a filter: the loader knows what that means.
    const own = search === "" ? asks.map((ask) => ask.replace("{id}", match[1] ?? "")) : [];
    return { module, asks: isWide || path === "/" ? [...own, overview] : own };
  }
  return null;
}
