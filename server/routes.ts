// All routes of the API. The four rooms and the tokens export theirs; the smaller parts are created here.
import { activityRoutes } from "./activity/routes.ts";
import { createActivityStore } from "./activity/store.ts";
import type { AppOptions } from "./app-options.ts";
import type { Backups } from "./backups/backups.ts";
import { deploymentRoutes } from "./deployments/routes.ts";
import { createDeploymentService } from "./deployments/service.ts";
import { discoveryRoutes } from "./discovery/routes.ts";
import { createDiscoveryService } from "./discovery/service.ts";
import { doctorRoutes } from "./doctor/routes.ts";
import { createDoctorService } from "./doctor/service.ts";
import type { Route } from "./http/route.ts";
import { installationRoutes } from "./installation/routes.ts";
import { inventoryEditing } from "./inventory/editing.ts";
import type { WiredInventory } from "./inventory-wiring.ts";
import { overviewRoutes } from "./overview/routes.ts";
import { searchRoutes } from "./search/routes.ts";
import { createSearchService } from "./search/service.ts";
import { serverRoutes } from "./servers/routes.ts";
import { createTryServer } from "./ssh/try-server.ts";
import type { Database } from "./store/database.ts";
import type { createNightly } from "./self-backup/nightly.ts";
import type { Tokens } from "./tokens/tokens.ts";
import type { createNotifications } from "./notifications/notifications.ts";
import type { createWebhooks } from "./webhooks/webhooks.ts";
import type { Workers } from "./workers/workers.ts";

type Parts = {
  options: AppOptions;
  db: Database;
  wired: WiredInventory;
  backups: Backups;
  workers: Workers;
  webhooks: ReturnType<typeof createWebhooks>;
  notifications: ReturnType<typeof createNotifications>;
  tokens: Tokens;
  /** Null = the service makes no backups of itself. */
  nightly: ReturnType<typeof createNightly> | null;
  /** Aborted when the service is told to stop. */
  stopping: AbortSignal;
};

export function createRoutes(parts: Parts): Route[] {
  const { options, db, wired, backups, workers, webhooks, notifications, tokens, nightly } = parts;
  const { store, inventory, host, servers, reachability, ssh, secrets } = wired;
  const deployments = createDeploymentService({ db, noteForWorkers: workers.noteDeployment });
  return [
    ...backups.routes,
    ...workers.routes,
    ...webhooks.routes,
    ...notifications.routes,
    ...deploymentRoutes(deployments, store),
    ...activityRoutes(createActivityStore(db)),
    ...searchRoutes(createSearchService(db)),
    ...overviewRoutes({
      db,
      workers,
      backups,
      selfBackup: async () => nightly?.problem() ?? null,
      dataFolder: options.dataFolder,
    }),
    ...serverRoutes(store, host, reachability),
    ...discoveryRoutes(createDiscoveryService(store, servers, workers, secrets), store),
    ...inventoryEditing({
      ...options,
      db,
      live: inventory,
      store,
      tests: {
        ...backups.entryTests,
        server: createTryServer({ local: host, ...ssh }),
        channel: notifications.testEntry,
      },
      secrets,
      stopping: parts.stopping,
    }),
    ...tokens.routes,
    ...doctorRoutes(createDoctorService({ options, host, sshOptions: ssh })),
    ...installationRoutes({
      version: options.version,
      account: options.account.name,
      isolates_sites: options.account.isRoot,
    }),
  ];
}
