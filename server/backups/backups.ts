// Wires the parts of the room: routes, job handlers, start and stop.
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock } from "../clock.ts";
import type { LocalHost } from "../hosts/host.ts";
import type { Scratch } from "../hosts/scratch.ts";
import type { Route } from "../http/route.ts";
import type { SecretReader } from "../inventory/secrets.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { Leases } from "../instances/leases.ts";
import type { Handlers, Jobs } from "../jobs/jobs.ts";
import type { MetricsPart } from "../metrics/part.ts";
import type { Database } from "../store/database.ts";
import type { OneTimeLinks } from "../tokens/one-time-links.ts";
import { createBackupService } from "./backup-service.ts";
import { createArchiveListings } from "./restore/archive-listing.ts";
import { createBrowse } from "./restore/browse.ts";
import { createObjectListings } from "./restore/object-listing.ts";
import { createBackupStore } from "./backup-store.ts";
import { createCopyBackup } from "./copies/copy-backup.ts";
import { createCopyQueue } from "./copies/copy-queue.ts";
import { createCopyStore } from "./copies/copy-store.ts";
import { createForecastService } from "./retention/forecast-service.ts";
import { createChain } from "./incremental/chain.ts";
import { createChainStore } from "./incremental/chain-store.ts";
import { createIncremental } from "./incremental/incremental.ts";
import { createNoteDamage } from "./verification/note-damage.ts";
import { createCountsStore } from "./counts-store.ts";
import { createCurrentContents } from "./restore/contents.ts";
import { createConfigurationService } from "./configuration-service.ts";
import { createConfigurationStore } from "./configuration-store.ts";
import { createConfigurationTransitions } from "./configuration-transitions.ts";
import { createBackupCounts, backupMetrics } from "./metrics.ts";
import { createFileKeys } from "./file-keys.ts";
import { importRoutes } from "./foreign/import-routes.ts";
import { createImportService } from "./foreign/import-service.ts";
import { createImportStore } from "./foreign/import-store.ts";
import { createImportTasks } from "./foreign/import-tasks.ts";
import { createReceiveUpload } from "./foreign/receive-upload.ts";
import { createUploads } from "./foreign/uploads.ts";
import { createTaskHandlers } from "./tasks/task-handlers.ts";
import type { Visible } from "../events/visible-messages.ts";
import { createEntryTests } from "./entry-tests.ts";
import type { EntryTests } from "../inventory/try-entries.ts";
import { createProtectionOverview, type ProtectionOverview } from "./protection-overview.ts";
import { createRecoveryStore } from "./recovery/recovery-store.ts";
import { createRecoveryWriter } from "./recovery/recovery-writer.ts";
import { createResolver, type RemoteServers } from "./resolver.ts";
import { createSerializer } from "./serializer.ts";
import { createRemoval } from "./retention/removal.ts";
import { createRestoreService } from "./restore/restore-service.ts";
import { createRetentionStore } from "./retention/retention-store.ts";
import { createRetention } from "./retention/retention.ts";
import { adoptionRoutes } from "./adoption/adoption-routes.ts";
import { createAdoptStorage } from "./adoption/adopt-storage.ts";
import { createAdoptionStore } from "./adoption/adoption-store.ts";
import { createDueStore } from "./schedule/due-store.ts";
import { backupRoutes } from "./routes.ts";
import { createScheduleService } from "./schedule/schedule-service.ts";
import { createScheduleStore } from "./schedule/schedule-store.ts";
import { createScheduler } from "./schedule/scheduler.ts";
import type { TrustedTimes } from "./sources/folder/state.ts";
import { createTakeBackup } from "./run/take-backup.ts";
import { createTaskRunner, longestWaitMs } from "./tasks/task-runner.ts";
import { createTaskStore } from "./tasks/task-store.ts";

type BackupsOptions = {
  db: Database;
  inventory: InventoryStore;
  host: LocalHost;
  servers: RemoteServers;
  secrets: SecretReader;
  scratch: Scratch;
  /** The id of the installation. */
  installation: string;
  jobs: Jobs;
  leases: Pick<Leases, "elsewhere" | "holdThose">;
  links: OneTimeLinks;
  registry: Registry;
  clock: Clock;
  log: Logger;
  /** Version of the service. */
  version: string;
  fileTimes?: TrustedTimes | undefined;
};

type BackupHandlers = Pick<
  Handlers,
  Extract<
    keyof Handlers,
    `backup-configuration.${string}` | `backup.${string}` | `backup-task.${string}`
  >
>;

export type Backups = {
  /** Tests entries from a form, before they are saved. */
  entryTests: Pick<EntryTests, "database" | "storage">;
  routes: Route[];
  handlers: BackupHandlers;
  metrics: MetricsPart;
  /** Returns the protection of configurations for the overview. @param visible servers; null = all */
  protection(visible: Visible): Promise<ProtectionOverview>;
  /** Settles what an earlier run of the service left, and starts the scheduler. */
  resume(): Promise<void>;
  /** Checks the schedules now, because this instance has taken over servers from another one. */
  wake(): void;
  /** Whether a task of the server runs here. */
  isBusyWith(serverId: number): boolean;
  /** Interrupts running tasks; their outcomes are stored when this resolves. */
  stop(): Promise<void>;
};

export function createBackups(options: BackupsOptions): Backups {
  const { db, inventory, host, servers, secrets, scratch, jobs, links, clock, log, version } =
    options;
  const store = createBackupStore(db);
  const configurationStore = createConfigurationStore(db);
  const countsStore = createCountsStore(db);
  const tasks = createTaskStore(db, jobs.backupTasks);
  const { fileTimes: times } = options;
  // Short, because it is part of names of databases; begins with a letter, because numbers have another meaning there.
  const installation = `i${options.installation.slice(0, 8)}`;
  const sources = { inventory, store, host, servers, scratch, installation };
  const resolver = createResolver({ ...sources, secrets, times });
  const recovery = createRecoveryWriter({
    recovery: createRecoveryStore(db, options.leases),
    resolver,
    inventory,
    clock,
    log,
    version,
  });
  const scheduleStore = createScheduleStore(db);
  const stores = { store, configurations: configurationStore, scheduleStore, tasks };
  const fileKeys = createFileKeys(clock);
  const copies = createCopyStore(db);
  const copyQueue = createCopyQueue({ store, copies, tasks, jobs, inventory, clock });
  const counts = createBackupCounts(options.registry);
  const copying = { copies, copyQueue, counts };
  const chainStore = createChainStore(db);
  const chain = createChain({ store: chainStore, host, scratch });
  const note = createNoteDamage({ store, chainStore });
  const chaining = { chainStore, chain, note };
  const parts = {
    ...stores,
    ...copying,
    ...chaining,
    resolver,
    recovery,
    fileKeys,
    jobs,
    clock,
    log,
  };

  const listings = createArchiveListings(clock);
  const objectListings = createObjectListings(clock);

  const removal = createRemoval(parts);
  const retention = createRetention({
    ...parts,
    retentionStore: createRetentionStore(db),
    inventory,
    removal,
  });

  const copyBackup = createCopyBackup({ ...parts, version });
  const incremental = createIncremental({ ...parts, host, scratch });
  const takeBackup = createTakeBackup({ ...parts, incremental, countsStore, version });
  const imports = createImportTasks({ ...parts, host, takeBackup, inventory });
  const transitions = createConfigurationTransitions({ ...parts, inventory });
  const handled = { takeBackup, copyBackup, imports, retention, transitions };
  const work = createTaskHandlers({ ...parts, ...handled });
  const runner = createTaskRunner({ tasks, perform: work.perform, settle: work.settle, clock });
  const uploads = createUploads();
  const backups = createBackupService({
    ...parts,
    runner,
    removal,
    uploads,
    copyBackup,
    leases: options.leases,
  });
  const configurations = createConfigurationService({
    ...parts,
    inventory,
    transitions,
  });
  const scheduler = createScheduler({
    ...parts,
    dueStore: createDueStore(db),
    backups,
    retention,
    leases: options.leases,
  });
  const serializer = createSerializer({ store, copies, tasks, inventory, clock });
  const importParts = {
    ...parts,
    importStore: createImportStore(db),
    inventory,
    transitions,
    leases: options.leases,
  };
  const importService = createImportService(importParts);
  const receiveUpload = createReceiveUpload({ ...importParts, imports: importService, uploads });
  const interruptUploads = () => receiveUpload.interruptOrphans(options.leases.elsewhere());

  return {
    entryTests: createEntryTests((reader) => createResolver({ ...sources, secrets: reader })),
    routes: [
      ...adoptionRoutes(
        inventory,
        createAdoptStorage({ ...parts, store: createAdoptionStore(db), inventory, transitions }),
      ),
      ...importRoutes({ imports: importService, receiveUpload, serializer, inventory }),
      ...backupRoutes({
        configurations,
        backups,
        restores: createRestoreService({ ...parts, onDamage: backups.verify }),
        currentContents: createCurrentContents(parts),
        browse: createBrowse({
          ...parts,
          listings,
          objectListings,
          host,
          onDamage: backups.verify,
        }),
        schedules: createScheduleService({ store, inventory, clock }),
        serializer,
        countsStore,
        forecasts: createForecastService({ db, inventory, resolver, clock }),
        inventory,
        links,
      }),
    ],
    handlers: {
      "backup-configuration.installing": async (data) => {
        await transitions.install(data);
        scheduler.wake();
      },
      "backup-configuration.removing": transitions.finishRemoval,
      "backup-configuration.deadline": async (data) => {
        await transitions.expire(data);
        scheduler.wake();
      },
      "backup.deleting": removal.finish,
      "backup.deadline": removal.expire,
      "backup.clean": backups.clean,
      "backup-task.deadline": async ({ id }) => {
        // In an earlier version, ids of tasks were numbers.
        const task = typeof id === "string" ? await tasks.byId(id) : null;
        if (task?.started_at === null) await work.expire(task);
      },
    },
    metrics: backupMetrics(clock),
    protection: createProtectionOverview({ db, tasks, clock }),
    async resume() {
      // Removes files of interrupted dumps and passwords, but not those of restores, which may be needed. Not awaited, because a site's
      // account could delay the start of the service.
      scratch
        // An earlier version stored passwords in files there.
        .clear((name) => /^[a-z]+-login-.*\.cnf$/.test(name))
        .catch((error: unknown) => log.error({ err: error }, "scratch folders were not cleared"));
      const waiting = await tasks.takeOver();
      for (const id of waiting)
        await store.transaction((tx) =>
          jobs.send(tx, "backup-task.deadline", { id }, longestWaitMs / 1000),
        );
      await work.interruptOrphans();
      await interruptUploads();
      await recovery.resume();
      jobs.backupTasks.work(runner.run);
      scheduler.wake();
    },
    wake() {
      scheduler.wake();
      // Fails uploads that another instance was receiving.
      interruptUploads().catch((error: unknown) =>
        log.error({ err: error }, "uploads that broke off were not looked for"),
      );
    },
    isBusyWith: runner.isBusyWith,
    async stop() {
      listings.close();
      uploads.stop();
      objectListings.close();
      await scheduler.stop();
      await Promise.all([jobs.backupTasks.stop(), runner.stop()]);
      await recovery.stop();
    },
  };
}
