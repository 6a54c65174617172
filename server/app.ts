// Every part of the service, wired once. It reads no environment and opens no port: `main.ts` does.
import { mkdir } from "node:fs/promises";
import type { Hono } from "hono";
import type { Logger } from "pino";
import type pg from "pg";
import { Registry } from "prom-client";
import { activityRoutes } from "./activity/routes.ts";
import { createActivityStore } from "./activity/store.ts";
import { createBackups } from "./backups/backups.ts";
import type { Clock } from "./clock.ts";
import { deploymentRoutes } from "./deployments/routes.ts";
import { countEvents, eventFigures } from "./events/metrics.ts";
import { createPruner } from "./events/pruner.ts";
import { createTeller } from "./events/teller.ts";
import { createLocalHost } from "./hosts/local.ts";
import { createApi, type ApiEnvironment } from "./http/api.ts";
import { createDoorkeeper } from "./http/authentication.ts";
import { createDashboard } from "./http/dashboard.ts";
import { createFront } from "./http/front.ts";
import { createSecretReader } from "./inventory/secrets.ts";
import { openInventory } from "./inventory/inventory.ts";
import { createInventoryStore } from "./inventory/store.ts";
import { startJobs } from "./jobs/jobs.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { measureRequests } from "./metrics/requests.ts";
import { createMetricsRoute } from "./metrics/routes.ts";
import { createAddressGuard } from "./net/address-guard.ts";
import { createSender } from "./net/send.ts";
import type { SmtpSettings } from "./notifications/channels/smtp-url.ts";
import { createNotifications } from "./notifications/notifications.ts";
import { overviewRoutes } from "./overview/routes.ts";
import { createOverviewStore } from "./overview/store.ts";
import { serverRoutes } from "./servers/routes.ts";
import { openDatabase } from "./store/database.ts";
import { listen } from "./store/listen.ts";
import { installationId } from "./store/settings.ts";
import { tokenRoutes } from "./tokens/routes.ts";
import { createTokenService } from "./tokens/service.ts";
import { createTokenStore } from "./tokens/store.ts";
import { createWebhooks } from "./webhooks/webhooks.ts";
import { countRestarts, workerFigures } from "./workers/metrics.ts";
import { createObserver } from "./workers/observer.ts";
import { workerRoutes } from "./workers/routes.ts";
import { createEmbeddedRunner } from "./workers/runner.ts";
import { createWorkerService } from "./workers/service.ts";
import { createWorkerStore } from "./workers/store.ts";
import { createSupervisor } from "./workers/supervisor/supervisor.ts";

export type AppOptions = {
  /** Where PostgreSQL is. */
  connection: pg.PoolConfig;
  dataFolder: string;
  inventoryFile: string;
  /** A token that the operator chose. */
  token: string | null;
  rateLimit: number;
  publicUrl: string | null;
  /** Where people open the dashboard, without a slash at the end; null = nobody knows yet. */
  address?: () => string | null;
  /** Ranges of addresses that webhooks may reach although they are private; null = none. */
  allow: string | null;
  /** The mail server; null = no mail can be sent. */
  smtp: SmtpSettings | null;
  /** For how long the timeline and what was sent are kept. */
  keepDays: number;
  /** The built dashboard; null = none. */
  dashboardFolder: string | null;
  /** Where `env:NAME` in the inventory is looked up. */
  secrets: Record<string, string | undefined>;
  /** What workers inherit; no secret is in it. */
  workerEnvironment: Record<string, string>;
  invalidAnswer: "fail" | "log";
  version: string;
  clock: Clock;
  log: Logger;
};

export type App = {
  fetch: Hono<ApiEnvironment>["fetch"];
  /** The text of the first token, if one had to be made; it stands nowhere else. */
  firstToken: string | null;
  /** Why the inventory file as it is now is not in force; null = it is. */
  inventoryProblem(): string | null;
  /** Requests are refused with this reason until it is null again. */
  refuse(reason: string | null): void;
  /** @param workers what becomes of the workers' processes */
  close(workers: "keep" | "stop"): Promise<void>;
};

/** How long running jobs may go on once the service was told to stop. */
const jobsDrainMs = 5000;

export async function createApp(options: AppOptions): Promise<App> {
  const { clock, log } = options;
  const {
    db,
    ping,
    pool,
    close: closeDatabase,
  } = await openDatabase(options.connection, (error) =>
    // Its message alone: pg hangs the whole connection on the error.
    log.warn({ reason: error.message }, "a connection to the database was lost"),
  );
  const registry = new Registry();
  const tokens = createTokenService(createTokenStore(db), clock);
  const firstToken = await tokens.prepare(options.token);
  const inventoryStore = createInventoryStore(db);
  const inventory = await openInventory({
    file: options.inventoryFile,
    dataFolder: options.dataFolder,
    store: inventoryStore,
    log,
  });
  const jobs = await startJobs(options.connection, log);
  const secrets = createSecretReader(options.secrets);

  const { PATH = "", HOME = "/" } = options.workerEnvironment;
  const host = createLocalHost({ PATH, HOME });
  const supervisor = createSupervisor({
    folder: `${options.dataFolder}/workers`,
    instance: await installationId(db),
    environment: options.workerEnvironment,
    // Called at the first change at the earliest, when everything below stands.
    onChange: (id) => observer.notice(id),
    onRestart: countRestarts(registry),
    clock,
    log,
  });
  const workers = createWorkerService({
    store: createWorkerStore(db),
    inventory: inventoryStore,
    runner: createEmbeddedRunner(supervisor, (id, error) =>
      log.error({ err: error, worker: id }, "a worker's order was not carried out"),
    ),
    host,
    jobs,
    clock,
    log,
  });
  const observer = createObserver(workers.observe, clock, log);
  await workers.resume();
  const scratchFolder = `${options.dataFolder}/scratch`;
  await mkdir(scratchFolder, { recursive: true, mode: 0o700 });
  const backups = createBackups({
    db,
    inventory: inventoryStore,
    host,
    secrets,
    scratchFolder,
    jobs,
    registry,
    clock,
    log,
  });
  await backups.resume();
  await jobs.work({
    "worker.apply": workers.apply,
    "worker.deadline": workers.expire,
    ...backups.handlers,
  });

  const network = createSender({ guard: createAddressGuard(options.allow) });
  const webhooks = createWebhooks({
    db,
    inventory: inventoryStore,
    network,
    userAgent: `Quarterdeck/${options.version}`,
    registry,
    clock,
    log,
  });
  const notifications = createNotifications({
    db,
    inventory: inventoryStore,
    secrets,
    smtp: options.smtp,
    address: options.address ?? (() => options.publicUrl),
    registry,
    clock,
    log,
  });
  const countTold = countEvents(registry);
  const teller = createTeller({
    db,
    receivers: [webhooks.receive, notifications.receive],
    onTold(told) {
      countTold(told);
      webhooks.wake();
      notifications.wake();
    },
    clock,
    log,
  });
  const pruner = createPruner({ db, keepDays: options.keepDays, clock, log });
  const stopListening = listen({
    connection: options.connection,
    channel: "quarterdeck_events",
    onNotice: teller.wake,
    clock,
    log,
  });
  for (const { wake } of [teller, webhooks, notifications, pruner]) wake();

  const routes = [
    ...backups.routes,
    ...workerRoutes(workers, inventoryStore),
    ...webhooks.routes,
    ...notifications.routes,
    ...deploymentRoutes({ db, inventory: inventoryStore, restartWorkers: workers.restartAll }),
    ...activityRoutes(createActivityStore(db)),
    ...overviewRoutes({ store: createOverviewStore(db), crashLoops: workers.crashLoops }),
    ...serverRoutes(inventoryStore, host),
    ...tokenRoutes(tokens),
  ];
  let refusal: string | null = null;
  const door = {
    doorkeeper: createDoorkeeper(tokens.findCaller, options.rateLimit),
    closed: () => refusal,
  };
  const metrics = createMetrics({
    db,
    pool,
    registry,
    parts: [
      workerFigures(workers),
      backups.metrics,
      webhooks.metrics,
      notifications.metrics,
      eventFigures(clock.now),
    ],
    version: options.version,
    log,
  });
  const api = createApi({
    ...door,
    routes,
    publicUrl: options.publicUrl,
    invalidAnswer: options.invalidAnswer,
    log,
  });
  const front = createFront({
    measure: measureRequests(registry),
    closed: door.closed,
    ping,
    parts: [createMetricsRoute(metrics, door), api, createDashboard(options.dashboardFolder)],
    version: options.version,
    publicUrl: options.publicUrl,
    log,
  });

  return {
    fetch: front.fetch,
    firstToken,
    inventoryProblem: inventory.problem,
    refuse: (reason) => {
      refusal = reason;
    },
    async close(workersOnStop) {
      inventory.close();
      await backups.stop();
      await jobs.stop(jobsDrainMs);
      // What the processes do from here on is the stop's doing; it changes no worker's status.
      await observer.stop();
      if (workersOnStop === "stop") await supervisor.stopAll();
      else supervisor.release();
      await stopListening();
      // What happened while it stopped is still stored, and told by the next service.
      for (const part of [teller, webhooks, notifications, pruner]) await part.stop();
      network.close();
      await closeDatabase();
    },
  };
}
