// All pages of the dashboard, one row each. Loaders are separate from their lazy pages, so that code and data are
// fetched in parallel. Loaders of rooms other than backups are lazy, too.
import type { RouteObject } from "react-router";
import {
  backupLoader,
  backupsLoader,
  configurationLoader,
  editConfigurationLoader,
  newConfigurationLoader,
} from "./backups/loaders.ts";
import { homeLoader } from "./app/start/home-loader.ts";
import { NotFoundPage } from "./app/routing/NotFoundPage.tsx";
import { PageError } from "./app/routing/PageError.tsx";
import { Shell } from "./app/shell/Shell.tsx";
import { PageSkeleton } from "./ui/feedback/Skeleton.tsx";

const pages: RouteObject[] = [
  {
    path: "/",
    loader: homeLoader,
    lazy: { Component: async () => (await import("./app/start/HomePage.tsx")).HomePage },
  },
  {
    path: "/sites/:id/workers",
    lazy: {
      loader: async () => (await import("./workers/loaders.ts")).workersLoader,
      Component: async () => (await import("./workers/WorkersPage.tsx")).WorkersPage,
    },
  },
  {
    path: "/sites/:id/workers/new",
    lazy: {
      loader: async () => (await import("./workers/loaders.ts")).newWorkerLoader,
      Component: async () => (await import("./workers/WorkerNewPage.tsx")).WorkerNewPage,
    },
  },
  {
    path: "/workers/:id",
    lazy: {
      loader: async () => (await import("./workers/loaders.ts")).workerLoader,
      Component: async () => (await import("./workers/WorkerPage.tsx")).WorkerPage,
    },
  },
  {
    path: "/workers/:id/edit",
    lazy: {
      loader: async () => (await import("./workers/loaders.ts")).editWorkerLoader,
      Component: async () => (await import("./workers/WorkerEditPage.tsx")).WorkerEditPage,
    },
  },
  {
    path: "/sites/:id/webhooks",
    lazy: {
      loader: async () => (await import("./webhooks/loaders.ts")).webhooksLoader,
      Component: async () => (await import("./webhooks/WebhooksPage.tsx")).WebhooksPage,
    },
  },
  {
    path: "/sites/:id/webhooks/new",
    lazy: {
      loader: async () => (await import("./webhooks/loaders.ts")).newWebhookLoader,
      Component: async () => (await import("./webhooks/WebhookNewPage.tsx")).WebhookNewPage,
    },
  },
  {
    path: "/webhooks/:id",
    lazy: {
      loader: async () => (await import("./webhooks/loaders.ts")).webhookLoader,
      Component: async () => (await import("./webhooks/WebhookPage.tsx")).WebhookPage,
    },
  },
  {
    path: "/webhooks/:id/edit",
    lazy: {
      loader: async () => (await import("./webhooks/loaders.ts")).editWebhookLoader,
      Component: async () => (await import("./webhooks/WebhookEditPage.tsx")).WebhookEditPage,
    },
  },
  {
    path: "/servers/:id/backups",
    loader: backupsLoader,
    lazy: { Component: async () => (await import("./backups/list/BackupsPage.tsx")).BackupsPage },
  },
  {
    path: "/servers/:id/backups/new",
    loader: newConfigurationLoader,
    lazy: {
      Component: async () =>
        (await import("./backups/form/ConfigurationNewPage.tsx")).ConfigurationNewPage,
    },
  },
  {
    path: "/backup-configurations/:id",
    loader: configurationLoader,
    lazy: {
      Component: async () =>
        (await import("./backups/configuration/ConfigurationPage.tsx")).ConfigurationPage,
    },
  },
  {
    path: "/backup-configurations/:id/edit",
    loader: editConfigurationLoader,
    lazy: {
      Component: async () =>
        (await import("./backups/form/ConfigurationEditPage.tsx")).ConfigurationEditPage,
    },
  },
  {
    path: "/backups/:id",
    loader: backupLoader,
    lazy: { Component: async () => (await import("./backups/backup/BackupPage.tsx")).BackupPage },
  },
  {
    path: "/backups/:id/contents",
    lazy: {
      loader: async () => (await import("./backups/elsewhere/loader.ts")).contentsLoader,
      Component: async () => (await import("./backups/elsewhere/ContentsPage.tsx")).ContentsPage,
    },
  },
  {
    path: "/backups/:id/restore",
    lazy: {
      loader: async () => (await import("./backups/elsewhere/loader.ts")).restoreElsewhereLoader,
      Component: async () =>
        (await import("./backups/elsewhere/RestoreElsewherePage.tsx")).RestoreElsewherePage,
    },
  },
  {
    path: "/import",
    lazy: {
      loader: async () => (await import("./backups/import/loader.ts")).importLoader,
      Component: async () => (await import("./backups/import/ImportPage.tsx")).ImportPage,
    },
  },
  {
    path: "/sites/:id/notifications",
    lazy: {
      loader: async () => (await import("./notifications/loaders.ts")).notificationsLoader,
      Component: async () =>
        (await import("./notifications/NotificationsPage.tsx")).NotificationsPage,
    },
  },
  {
    path: "/servers/:id",
    lazy: {
      loader: async () => (await import("./servers/loaders.ts")).serverLoader,
      Component: async () => (await import("./servers/ServerPage.tsx")).ServerPage,
    },
  },
  {
    path: "/servers/:id/notifications",
    lazy: {
      loader: async () => (await import("./notifications/loaders.ts")).serverNotificationsLoader,
      Component: async () =>
        (await import("./notifications/ServerNotificationsPage.tsx")).ServerNotificationsPage,
    },
  },
  {
    path: "/activity",
    lazy: {
      loader: async () => (await import("./activity/loaders.ts")).activityLoader,
      Component: async () => (await import("./activity/ActivityPage.tsx")).ActivityPage,
    },
  },
  {
    path: "/settings",
    lazy: {
      loader: async () => (await import("./settings/loaders.ts")).settingsLoader,
      Component: async () => (await import("./settings/SettingsPage.tsx")).SettingsPage,
    },
  },
  {
    path: "/settings/tokens/new",
    lazy: {
      loader: async () => (await import("./settings/loaders.ts")).newTokenLoader,
      Component: async () => (await import("./settings/TokenNewPage.tsx")).TokenNewPage,
    },
  },
  {
    path: "/settings/inventory",
    lazy: {
      loader: async () => (await import("./settings/inventory/loaders.ts")).inventoryLoader,
      Component: async () => (await import("./settings/inventory/InventoryPage.tsx")).InventoryPage,
    },
  },
  {
    path: "/settings/inventory/:kind/new",
    lazy: {
      loader: async () => (await import("./settings/inventory/loaders.ts")).entryLoader,
      Component: async () => (await import("./settings/inventory/EntryPage.tsx")).EntryPage,
    },
  },
  {
    path: "/settings/inventory/:kind/:id/edit",
    lazy: {
      loader: async () => (await import("./settings/inventory/loaders.ts")).entryLoader,
      Component: async () => (await import("./settings/inventory/EntryPage.tsx")).EntryPage,
    },
  },
  {
    path: "/settings/inventory/storage-providers/:id/adopt",
    lazy: {
      loader: async () => (await import("./settings/inventory/loaders.ts")).adoptLoader,
      Component: async () => (await import("./settings/inventory/AdoptPage.tsx")).AdoptPage,
    },
  },
  {
    path: "/help",
    lazy: { Component: async () => (await import("./help/HelpIndexPage.tsx")).HelpIndexPage },
  },
  {
    path: "/help/:page",
    lazy: {
      loader: async () => (await import("./help/loader.ts")).helpLoader,
      Component: async () => (await import("./help/HelpPage.tsx")).HelpPage,
    },
  },
  { path: "*", Component: NotFoundPage },
];

// The error of a failed page is shown inside the shell, which stays usable.
const inShell = (page: RouteObject): RouteObject => ({
  ...page,
  ErrorBoundary: PageError,
  HydrateFallback: PageSkeleton,
});

// Only in development, not in the built dashboard.
const design: RouteObject[] = import.meta.env.DEV
  ? [
      {
        path: "/_design",
        lazy: { Component: async () => (await import("./design/DesignPage.tsx")).DesignPage },
      },
    ]
  : [];

export const routes: RouteObject[] = [
  ...design,
  {
    path: "/connect",
    lazy: { Component: async () => (await import("./app/connect/ConnectPage.tsx")).ConnectPage },
    HydrateFallback: () => null,
  },
  { Component: Shell, children: pages.map(inShell) },
];
