// Every page of the dashboard, one row each. A loader stands beside its lazy page, so that the page's code
// and its data are fetched at the same time.
import type { RouteObject } from "react-router";
import {
  backupLoader,
  backupsLoader,
  configurationLoader,
  editConfigurationLoader,
  newConfigurationLoader,
} from "./backups/loaders.ts";
import { ErrorPage } from "./app/ErrorPage.tsx";
import { homeLoader } from "./app/home-loader.ts";
import { NotFoundPage } from "./app/NotFoundPage.tsx";
import { Shell } from "./app/Shell.tsx";
import { PageSkeleton } from "./ui/Skeleton.tsx";
import { newWorkerLoader, workerLoader, workersLoader } from "./workers/loaders.ts";

const pages: RouteObject[] = [
  {
    path: "/",
    loader: homeLoader,
    lazy: { Component: async () => (await import("./app/HomePage.tsx")).HomePage },
  },
  {
    path: "/sites/:id/workers",
    loader: workersLoader,
    lazy: { Component: async () => (await import("./workers/WorkersPage.tsx")).WorkersPage },
  },
  {
    path: "/sites/:id/workers/new",
    loader: newWorkerLoader,
    lazy: { Component: async () => (await import("./workers/WorkerNewPage.tsx")).WorkerNewPage },
  },
  {
    path: "/workers/:id",
    loader: workerLoader,
    lazy: { Component: async () => (await import("./workers/WorkerPage.tsx")).WorkerPage },
  },
  {
    path: "/servers/:id/backups",
    loader: backupsLoader,
    lazy: { Component: async () => (await import("./backups/BackupsPage.tsx")).BackupsPage },
  },
  {
    path: "/servers/:id/backups/new",
    loader: newConfigurationLoader,
    lazy: {
      Component: async () =>
        (await import("./backups/ConfigurationNewPage.tsx")).ConfigurationNewPage,
    },
  },
  {
    path: "/backup-configurations/:id",
    loader: configurationLoader,
    lazy: {
      Component: async () => (await import("./backups/ConfigurationPage.tsx")).ConfigurationPage,
    },
  },
  {
    path: "/backup-configurations/:id/edit",
    loader: editConfigurationLoader,
    lazy: {
      Component: async () =>
        (await import("./backups/ConfigurationEditPage.tsx")).ConfigurationEditPage,
    },
  },
  {
    path: "/backups/:id",
    loader: backupLoader,
    lazy: { Component: async () => (await import("./backups/BackupPage.tsx")).BackupPage },
  },
  { path: "*", Component: NotFoundPage },
];

// A page that fails is replaced by its error inside the shell, and the rest stays usable.
const inShell = (page: RouteObject): RouteObject => ({
  ...page,
  ErrorBoundary: ErrorPage,
  HydrateFallback: PageSkeleton,
});

export const routes: RouteObject[] = [
  {
    path: "/connect",
    lazy: { Component: async () => (await import("./app/ConnectPage.tsx")).ConnectPage },
    HydrateFallback: () => null,
  },
  { Component: Shell, children: pages.map(inShell) },
];
