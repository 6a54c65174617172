// Every part of the service, wired once. It reads no environment and opens no port: `main.ts` does.
import type { Hono } from "hono";
import { Registry } from "prom-client";
import type { AppOptions } from "./app-options.ts";
import { createBackups } from "./backups/backups.ts";
import { createEvents } from "./events/events.ts";
import { eventsChannel } from "./events/outbox-relay.ts";
import { createScratch } from "./hosts/scratch.ts";
import { pruneLimits } from "./http/limiter.ts";
import { createDashboard, withoutDashboard } from "./http/dashboard.ts";
import type { ApiEnvironment } from "./http/every-request.ts";
import { createDatabaseClock } from "./instances/database-clock.ts";
import { createInstances } from "./instances/instances.ts";
import { leasesChannel } from "./instances/shared-leases.ts";
import { wireInventory } from "./inventory-wiring.ts";
import { startJobs } from "./jobs/jobs.ts";
import { jobsChannel } from "./jobs/singleton-queue.ts";
import { createLeaseListener } from "./lease-listener.ts";
import { createAddressGuard } from "./net/address-guard.ts";
import { createSender } from "./net/send.ts";
import { createNotifications } from "./notifications/notifications.ts";
import { selfBackupMetrics } from "./self-backup/metrics.ts";
import { createNightly } from "./self-backup/nightly.ts";
import { createRoutes } from "./routes.ts";
import { openDatabase, tellWait } from "./store/database.ts";
import { createListener } from "./store/listen.ts";
import { installationId } from "./store/settings.ts";
import { createTokens } from "./tokens/tokens.ts";
import { createWeb } from "./web.ts";
import { createWebhooks } from "./webhooks/webhooks.ts";
import { createWorkers, type Workers } from "./workers/workers.ts";

export type App = {
  fetch: Hono<ApiEnvironment>["fetch"];
  /** The code of a first sign-in, which is stored nowhere; null where an operator can sign in without one. */
  signInCode: string | null;
  /** Why the current inventory file is not in force; null = it is. */
  inventoryProblem(): string | null;
  /** Reads the inventory file again, and logs its mistakes. */
  readInventory(): void;
  /** Refuses requests with this reason, until it is null again. */
  refuse(reason: string | null): void;
  /** Refuses further requests, and cancels tests of connections. Others that run are not affected. */
  prepareStop(): void;
  /** @param workers whether the processes of workers keep running */
  close(workers: "keep" | "stop"): Promise<void>;
};

/** How long running jobs may continue once the service is told to stop. */
const jobsDrainMs = 5000;

export async function createApp(given: AppOptions): Promise<App> {
  const { log } = given;
  const {
    db,
    ping,
    pool,
    endStart,
    close: closeDatabase,
  } = await tellWait(
    openDatabase(
      given.connection,
      (error) =>
        // The message alone: pg attaches the whole connection to the error.
        log.warn({ reason: error.message }, "a connection to the database was lost"),
      (error) => {
        if (given.secondConnection === "fail") throw error;
        log.error({ err: error }, "a transaction asked for a second connection");
      },
    ),
    () => log.info("waiting for the database"),
  );
  const databaseClock =
    given.goesByDatabase === true ? await createDatabaseClock({ ...given, db }) : null;
  const options = { ...given, clock: databaseClock?.clock ?? given.clock };
  const { clock } = options;
  const registry = new Registry();
  const tokens = createTokens({ db, clock });
  await tokens.prepare(options.token);
  const listener = createListener({
    connection: options.connection,
    channels: [jobsChannel, eventsChannel, leasesChannel],
    clock,
    log,
  });
  const installation = await installationId(db);
  const { leases, peers, mark, isRunner, isApi } = await createInstances({
    ...options,
    db,
    listener,
    installation,
    callerOf: tokens.callerOf,
  });
  let workersOfInventory: Workers | null = null;
  const wired = await wireInventory({
    ...options,
    db,
    leases,
    isRunner,
    onInventory: () => workersOfInventory?.followInventory(),
    onReached: (id) => workersOfInventory?.noteReached(id),
  });
  const { inventory, store: inventoryStore, host, servers, reachability, secrets } = wired;
  const jobs = await startJobs({ connection: options.connection, db, listener, leases, log });
  const workers = createWorkers({
    db,
    inventory: inventoryStore,
    host,
    servers,
    leases,
    jobs,
    folder: `${options.dataFolder}/workers`,
    installation,
    mark,
    environment: options.workerEnvironment,
    registry,
    clock,
    log,
  });
  workersOfInventory = workers;
  const backups = createBackups({
    db,
    inventory: inventoryStore,
    host,
    servers,
    secrets,
    scratch: await createScratch(options.dataFolder, host),
    installation,
    jobs,
    leases,
    links: tokens.links,
    registry,
    clock,
    log,
    version: options.version,
    fileTimes: options.fileTimes,
  });
  const nightly = options.selfBackup
    ? createNightly({
        settings: options.selfBackup,
        db,
        connection: options.connection,
        dataFolder: options.dataFolder,
        inventoryFile: options.inventoryFile,
        version: options.version,
        servers,
        host,
        secrets,
        marks: inventoryStore,
        clock,
        log,
      })
    : null;
  const network = createSender({ guard: createAddressGuard(options.allow) });
  const webhooks = createWebhooks({
    db,
    inventory: inventoryStore,
    queue: jobs.deliveries,
    network,
    userAgent: `Quarterdeck/${options.version}`,
    registry,
    clock,
  });
  const notifications = createNotifications({
    db,
    inventory: inventoryStore,
    queue: jobs.messages,
    secrets,
    smtp: options.smtp,
    address: options.address ?? (() => options.publicUrl),
    installation,
    registry,
    clock,
    log,
  });
  const events = createEvents({
    db,
    listener,
    receivers: [webhooks.receive, notifications.receive],
    keepDays: options.keepDays,
    registry,
    clock,
    log,
  });
  if (options.instance === null) await workers.take(null);
  await leases.start(createLeaseListener({ backups, workers, inventory, reachability }));
  if (isRunner) {
    await backups.resume();
    await jobs.work(
      {
        ...workers.handlers,
        ...backups.handlers,
        "self-backup": async () => nightly?.run(),
        async upkeep() {
          // Due where last night's backup was missed, or none was ever made.
          if (nightly !== null && (await nightly.isDue())) await jobs.send(db, "self-backup", {});
          await events.prune();
          await webhooks.catchUp();
          await notifications.catchUp();
          await pruneLimits(db);
        },
      },
      // An instance that makes no backups of the service leaves that job to one that does.
      nightly === null ? ["self-backup"] : [],
    );
    await webhooks.resume();
    await notifications.resume();
    events.resume();
  }

  let refusal: string | null = null;
  const stopping = new AbortController();
  const web = createWeb({
    ...options,
    db,
    pool,
    ping,
    tokens,
    peers,
    isShared: leases.isShared,
    dashboard: isApi
      ? createDashboard(options.dashboardFolder)
      : withoutDashboard(
          "This instance serves no dashboard: its QUARTERDECK_ROLE is runner. Open an instance whose role is all or api.",
        ),
    routes: createRoutes({
      options,
      db,
      wired,
      backups,
      workers,
      webhooks,
      notifications,
      tokens,
      nightly,
      stopping: stopping.signal,
    }),
    registry,
    metrics: [
      workers.metrics,
      backups.metrics,
      webhooks.metrics,
      notifications.metrics,
      events.metrics,
      ...(nightly === null ? [] : [selfBackupMetrics(clock)]),
    ],
    unavailableReason: () => refusal,
  });

  endStart();
  return {
    fetch: web.fetch,
    // An operator with a chosen token needs no code. Issued last, because it expires ten minutes from here.
    signInCode: options.token === null ? await tokens.issueCode() : null,
    inventoryProblem: inventory.problem,
    readInventory: inventory.read,
    refuse: (reason) => {
      refusal = reason;
    },
    prepareStop() {
      refusal = "The service is shutting down.";
      stopping.abort();
    },
    async close(workersOnStop) {
      const inventoryClosed = inventory.close();
      await leases.stop();
      await nightly?.stop();
      await backups.stop();
      // Events from here on are stored, and the next start dispatches them.
      await events.stop();
      await Promise.all([webhooks.stop(), notifications.stop()]);
      await jobs.stop(jobsDrainMs);
      await workers.stop(workersOnStop);
      await leases.release();
      await listener.stop();
      network.close();
      const reachabilityStopped = reachability.stop();
      await servers.close();
      await reachabilityStopped;
      // Last, because a reading may wait for servers until they are closed.
      await inventoryClosed;
      await databaseClock?.stop();
      await closeDatabase();
    },
  };
}
