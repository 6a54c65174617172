// The room, wired once: what it serves, what its jobs do, how it starts and ends.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock } from "../clock.ts";
import type { Host } from "../hosts/host.ts";
import type { Route } from "../http/route.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { Handlers, Jobs } from "../jobs/jobs.ts";
import type { MetricsPart } from "../metrics/part.ts";
import type { Database } from "../store/database.ts";
import { createBackupService } from "./backup-service.ts";
import { createBackupStore } from "./backup-store.ts";
import { createConfigurationService } from "./configuration-service.ts";
import { createConfigurationStore } from "./configuration-store.ts";
import { createBackupCounts } from "./counts.ts";
import { createHeavyWork } from "./heavy-work.ts";
import { createLane } from "./lane.ts";
import { backupFigures } from "./metrics.ts";
import { createPlaces } from "./places.ts";
import { createPresenter } from "./presenter.ts";
import { createRetention } from "./retention.ts";
import { backupRoutes } from "./routes.ts";
import { createScheduler } from "./scheduler.ts";
import { createTakeBackup } from "./take-backup.ts";
import { createTaskStore } from "./task-store.ts";

export type BackupsOptions = {
  db: Database;
  inventory: InventoryStore;
  host: Host;
  secrets: SecretReader;
  /** For what must lie on disk for a while; closed to other accounts. */
  scratchFolder: string;
  jobs: Jobs;
  registry: Registry;
  clock: Clock;
  log: Logger;
};

type BackupHandlers = Pick<
  Handlers,
  Extract<
    keyof Handlers,
    `backup-configuration.${string}` | `backup.${string}` | `backup-task.${string}`
  >
>;

export type Backups = {
  routes: Route[];
  handlers: BackupHandlers;
  metrics: MetricsPart;
  /** Ends what a service before this one left half done, and begins to follow the schedules. */
  resume(): Promise<void>;
  /** Interrupts what runs; the outcome is stored when this resolves. */
  stop(): Promise<void>;
};

/** Nobody goes on with a dump that was cut off; a restore may need what it left. */
async function clearDumps(scratchFolder: string): Promise<void> {
  for (const name of await readdir(scratchFolder))
    if (name.startsWith("dump-"))
      await rm(join(scratchFolder, name), { recursive: true, force: true });
}

export function createBackups(options: BackupsOptions): Backups {
  const { db, inventory, host, secrets, scratchFolder, jobs, clock, log } = options;
  const store = createBackupStore(db);
  const configurationStore = createConfigurationStore(db);
  const tasks = createTaskStore(db);
  const places = createPlaces({ inventory, host, secrets, scratchFolder });
  const parts = { store, configurations: configurationStore, tasks, places, jobs, clock, log };

  const work = createHeavyWork({
    ...parts,
    takeBackup: createTakeBackup({ ...parts, counts: createBackupCounts(options.registry) }),
    retention: createRetention(parts),
  });
  const lane = createLane({ tasks, perform: work.perform, settle: work.settle, clock, log });
  const backups = createBackupService({ ...parts, lane });
  const configurations = createConfigurationService({ ...parts, inventory });
  const scheduler = createScheduler({ ...parts, inventory, backups });
  const presenter = createPresenter({ store, tasks, inventory, clock });

  return {
    routes: backupRoutes({ configurations, backups, store, presenter, inventory, clock }),
    handlers: {
      "backup-configuration.installing": async (data) => {
        await configurations.install(data);
        scheduler.wake();
      },
      "backup-configuration.removing": configurations.finishRemoval,
      "backup-configuration.deadline": configurations.expire,
      "backup.deleting": backups.finishRemoval,
      "backup.deadline": backups.expire,
      "backup.clean": backups.clean,
      "backup-task.deadline": async ({ id }) => {
        const task = await tasks.byId(id);
        if (task?.started_at === null) await work.expire(task);
      },
    },
    metrics: backupFigures(clock),
    async resume() {
      await clearDumps(scratchFolder);
      await work.interruptAll();
      await lane.resume();
      scheduler.wake();
    },
    async stop() {
      await scheduler.stop();
      await lane.stop();
    },
  };
}
