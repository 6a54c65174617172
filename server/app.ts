// Every part of the service, wired once. It reads no environment and opens no port: `main.ts` does.
import type { Hono } from "hono";
import type { Logger } from "pino";
import type pg from "pg";
import { Registry } from "prom-client";
import { activityRoutes } from "./activity/routes.ts";
import { createActivityStore } from "./activity/store.ts";
import { createBackups } from "./backups/backups.ts";
import type { Clock } from "./clock.ts";
import { deploymentRoutes } from "./deployments/routes.ts";
import { createDeploymentService } from "./deployments/service.ts";
import { createEvents } from "./events/events.ts";
import { eventsChannel } from "./events/outbox-relay.ts";
import { findAccount, ownAccount } from "./hosts/account.ts";
import { findFolderOwner, findReplacer } from "./hosts/folder-owner.ts";
import { createLocalHost } from "./hosts/local.ts";
import { createScratch } from "./hosts/scratch.ts";
import type { IsAllowedHost } from "./http/allowed-hosts.ts";
import { createApi } from "./http/api.ts";
import { createHttpApp } from "./http/app.ts";
import { createAuthenticator } from "./http/authentication.ts";
import { ownLimiters, pruneLimits, sharedLimiters } from "./http/limiter.ts";
import { createDashboard } from "./http/dashboard.ts";
import type { ApiEnvironment } from "./http/every-request.ts";
import { installationRoutes } from "./installation/routes.ts";
import { createSecretReader } from "./inventory/secrets.ts";
import { openInventory } from "./inventory/inventory.ts";
import { createInventoryStore } from "./inventory/store.ts";
import { startJobs } from "./jobs/jobs.ts";
import { jobsChannel } from "./jobs/singleton-queue.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { measureRequests } from "./metrics/requests.ts";
import { createMetricsRoute } from "./metrics/routes.ts";
import { createAddressGuard } from "./net/address-guard.ts";
import { createReachability, type Reachability } from "./ssh/reachability.ts";
import { createServers } from "./ssh/servers.ts";
import { createSender } from "./net/send.ts";
import type { SmtpSettings } from "./notifications/channels/smtp-url.ts";
import { createNotifications } from "./notifications/notifications.ts";
import { overviewRoutes } from "./overview/routes.ts";
import { searchRoutes } from "./search/routes.ts";
import { createSearchService } from "./search/service.ts";
import { serverRoutes } from "./servers/routes.ts";
import { openDatabase } from "./store/database.ts";
import { createListener } from "./store/listen.ts";
import { installationId } from "./store/settings.ts";
import { createTokens } from "./tokens/tokens.ts";
import { createWebhooks } from "./webhooks/webhooks.ts";
import { createWorkers, type Workers } from "./workers/workers.ts";

export type AppOptions = {
  /** Where PostgreSQL is. */
  connection: pg.PoolConfig;
  /** Whether other instances may be on the same database. */
  isShared: boolean;
  dataFolder: string;
  inventoryFile: string;
  /** A token that the operator chose. */
  token: string | null;
  rateLimit: number;
  publicUrl: string | null;
  /** Whether a request for this host is one for this service, see `createAllowedHosts`. */
  isAllowedHost: IsAllowedHost;
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
  /** Uids of accounts that belong to the service and that no site may have. */
  reservedAccounts: readonly number[];
  /** What workers inherit; no secret is in it. */
  workerEnvironment: Record<string, string>;
  invalidResponse: "fail" | "log";
  /** What becomes of a query that asks for a second connection inside a transaction: `log` lets it have one. */
  secondConnection: "fail" | "log";
  version: string;
  /** Whom the service runs as. Root alone can give each site's code another account than its own. */
  account: { name: string; isRoot: boolean };
  clock: Clock;
  log: Logger;
};

export type App = {
  fetch: Hono<ApiEnvironment>["fetch"];
  /** The code of a first sign-in, where nobody could get in without one; it stands nowhere else. */
  signInCode: string | null;
  /** Why the inventory file as it is now is not in force; null = it is. */
  inventoryProblem(): string | null;
  /** Reads the inventory file again; what is wrong with it is logged. */
  readInventory(): void;
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
  } = await openDatabase(
    options.connection,
    (error) =>
      // Its message alone: pg hangs the whole connection on the error.
      log.warn({ reason: error.message }, "a connection to the database was lost"),
    (error) => {
      if (options.secondConnection === "fail") throw error;
      log.error({ err: error }, "a transaction asked for a second connection");
    },
  );
  const registry = new Registry();
  const tokens = createTokens({ db, clock });
  await tokens.prepare(options.token);
  const inventoryStore = createInventoryStore(db);
  const { PATH = "", HOME = "/" } = options.workerEnvironment;
  const host = createLocalHost({ PATH, HOME });
  const agent = options.secrets["SSH_AUTH_SOCK"];
  const servers = createServers({
    local: host,
    environment: { PATH, HOME, LC_ALL: "C", ...(agent && { SSH_AUTH_SOCK: agent }) },
  });
  let reachability: Reachability | null = null;
  let workersOfInventory: Workers | null = null;
  const inventory = await openInventory({
    file: options.inventoryFile,
    dataFolder: options.dataFolder,
    store: inventoryStore,
    accounts: {
      own: ownAccount(),
      reserved: options.reservedAccounts,
      find: findAccount,
      findOwner: findFolderOwner,
      findReplacer,
    },
    remote: servers,
    onAccepted() {
      reachability?.wake();
      workersOfInventory?.followInventory();
    },
    clock,
    log,
  });
  reachability = createReachability({
    db,
    servers,
    // What could not be asked while it was away can be now.
    onResponse: inventory.catchUp,
    onReached(id) {
      inventory.read();
      workersOfInventory?.noteReached(id);
    },
    clock,
    log,
  });
  const contacts = reachability;
  contacts.wake();
  const listener = createListener({
    connection: options.connection,
    channels: [jobsChannel, eventsChannel],
    clock,
    log,
  });
  const jobs = await startJobs({ connection: options.connection, db, listener, log });
  const secrets = createSecretReader(options.secrets);

  const installation = await installationId(db);
  const workers = createWorkers({
    db,
    inventory: inventoryStore,
    host,
    servers,
    jobs,
    folder: `${options.dataFolder}/workers`,
    installation,
    environment: options.workerEnvironment,
    registry,
    clock,
    log,
  });
  await workers.resume();
  workersOfInventory = workers;
  const backups = createBackups({
    db,
    inventory: inventoryStore,
    host,
    servers,
    secrets,
    scratch: await createScratch(options.dataFolder, host),
    jobs,
    links: tokens.links,
    registry,
    clock,
    log,
  });
  await backups.resume();
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
  await jobs.work({
    ...workers.handlers,
    ...backups.handlers,
    async upkeep() {
      await events.prune();
      await webhooks.catchUp();
      await notifications.catchUp();
      await pruneLimits(db, clock.now());
    },
  });
  await webhooks.resume();
  await notifications.resume();
  events.resume();

  const deployments = createDeploymentService({ db, noteForWorkers: workers.noteDeployment });
  const routes = [
    ...backups.routes,
    ...workers.routes,
    ...webhooks.routes,
    ...notifications.routes,
    ...deploymentRoutes(deployments, inventoryStore),
    ...activityRoutes(createActivityStore(db)),
    ...searchRoutes(createSearchService(db)),
    ...overviewRoutes({ db, workers, backups, dataFolder: options.dataFolder }),
    ...serverRoutes(inventoryStore, host, contacts),
    ...tokens.routes,
    ...installationRoutes({
      version: options.version,
      account: options.account.name,
      isolates_sites: options.account.isRoot,
    }),
  ];
  let refusal: string | null = null;
  const unavailableReason = () => refusal;
  const authenticator = createAuthenticator({
    findCaller: tokens.findCaller,
    redeemCode: tokens.redeemCode,
    unavailableReason,
    requestsPerMinute: options.rateLimit,
    limiters: options.isShared ? sharedLimiters(db) : ownLimiters,
    log,
  });
  const metrics = createMetrics({
    db,
    pool,
    registry,
    parts: [
      workers.metrics,
      backups.metrics,
      webhooks.metrics,
      notifications.metrics,
      events.metrics,
    ],
    version: options.version,
    log,
  });
  const api = createApi({
    authenticator,
    routes,
    publicUrl: options.publicUrl,
    invalidResponse: options.invalidResponse,
    log,
  });
  const httpApp = createHttpApp({
    measure: measureRequests(registry),
    isAllowedHost: options.isAllowedHost,
    unavailableReason,
    ping,
    parts: [
      createMetricsRoute(metrics, authenticator),
      api,
      createDashboard(options.dashboardFolder),
    ],
    version: options.version,
    publicUrl: options.publicUrl,
    log,
  });

  return {
    fetch: httpApp.fetch,
    // The operator's own token gets them in. Made last, because its minutes count from here.
    signInCode: options.token === null ? await tokens.issueCode() : null,
    inventoryProblem: inventory.problem,
    readInventory: inventory.read,
    refuse: (reason) => {
      refusal = reason;
    },
    async close(workersOnStop) {
      const inventoryClosed = inventory.close();
      await backups.stop();
      // What happens from here on is still stored, and dispatched by the next service.
      await events.stop();
      await Promise.all([webhooks.stop(), notifications.stop()]);
      await jobs.stop(jobsDrainMs);
      await workers.stop(workersOnStop);
      await listener.stop();
      network.close();
      const contactsStopped = contacts.stop();
      await servers.close();
      await contactsStopped;
      // Servers that are closed keep it waiting no longer.
      await inventoryClosed;
      await closeDatabase();
    },
  };
}
