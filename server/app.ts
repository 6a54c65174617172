// Every part of the service, wired once. It reads no environment and opens no port: `main.ts` does.
import { dirname } from "node:path";
import type { Hono } from "hono";
import { Registry } from "prom-client";
import type { AppOptions } from "./app-options.ts";
import { activityRoutes } from "./activity/routes.ts";
import { createActivityStore } from "./activity/store.ts";
import { createBackups } from "./backups/backups.ts";
import { deploymentRoutes } from "./deployments/routes.ts";
import { createDeploymentService } from "./deployments/service.ts";
import { discoveryRoutes } from "./discovery/routes.ts";
import { doctorRoutes } from "./doctor/routes.ts";
import { createEvents } from "./events/events.ts";
import { eventsChannel } from "./events/outbox-relay.ts";
import { findAccount, ownAccount } from "./hosts/account.ts";
import { createLocalHost } from "./hosts/local.ts";
import { createScratch } from "./hosts/scratch.ts";
import { pruneLimits } from "./http/limiter.ts";
import { createDashboard, withoutDashboard } from "./http/dashboard.ts";
import type { ApiEnvironment } from "./http/every-request.ts";
import { installationRoutes } from "./installation/routes.ts";
import { createDatabaseClock } from "./instances/database-clock.ts";
import { createInstances } from "./instances/instances.ts";
import { leasesChannel } from "./instances/shared-leases.ts";
import { inventoryEditing } from "./inventory/editing.ts";
import { createFoldersHere } from "./inventory/folders-here.ts";
import { createSecretReader } from "./inventory/secrets.ts";
import { openInventory, openNone } from "./inventory/inventory.ts";
import { createInventoryStore } from "./inventory/store.ts";
import { startJobs } from "./jobs/jobs.ts";
import { jobsChannel } from "./jobs/singleton-queue.ts";
import { createLeaseListener } from "./lease-listener.ts";
import { createAddressGuard } from "./net/address-guard.ts";
import { sshEnvironment } from "./ssh/environment.ts";
import { createReachability, type Reachability } from "./ssh/reachability.ts";
import { createServers } from "./ssh/servers.ts";
import { createTryServer } from "./ssh/try-server.ts";
import { createSender } from "./net/send.ts";
import { createNotifications } from "./notifications/notifications.ts";
import { createNightly } from "./self-backup/nightly.ts";
import { overviewRoutes } from "./overview/routes.ts";
import { searchRoutes } from "./search/routes.ts";
import { createSearchService } from "./search/service.ts";
import { serverRoutes } from "./servers/routes.ts";
import { openDatabase } from "./store/database.ts";
import { createListener } from "./store/listen.ts";
import { installationId } from "./store/settings.ts";
import { createTokens } from "./tokens/tokens.ts";
import { createWeb } from "./web.ts";
import { createWebhooks } from "./webhooks/webhooks.ts";
import { createWorkers, type Workers } from "./workers/workers.ts";

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

/** Why nothing is asked of a server. */
const notOurs = "no instance of the service looks after its server yet.";

/** How long running jobs may go on once the service was told to stop. */
const jobsDrainMs = 5000;

export async function createApp(given: AppOptions): Promise<App> {
  const { log } = given;
  const {
    db,
    ping,
    pool,
    close: closeDatabase,
  } = await openDatabase(
    given.connection,
    (error) =>
      // Its message alone: pg hangs the whole connection on the error.
      log.warn({ reason: error.message }, "a connection to the database was lost"),
    (error) => {
      if (given.secondConnection === "fail") throw error;
      log.error({ err: error }, "a transaction asked for a second connection");
    },
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
  const inventoryStore = createInventoryStore(db);
  const { PATH = "", HOME = "/" } = options.workerEnvironment;
  const host = createLocalHost({ PATH, HOME });
  const sshOptions = {
    environment: sshEnvironment({ PATH, HOME }, options.secrets),
    inventoryFolder: dirname(options.inventoryFile),
  };
  const servers = createServers({ local: host, ...sshOptions });
  let reachability: Reachability | null = null;
  let workersOfInventory: Workers | null = null;
  const inventory = await (isRunner ? openInventory : openNone)({
    file: options.inventoryFile,
    dataFolder: options.dataFolder,
    isShared: leases.isShared,
    store: inventoryStore,
    accounts: {
      own: ownAccount(),
      reserved: options.reservedAccounts,
      find: findAccount,
      ...createFoldersHere(host),
    },
    remote: {
      follow: servers.follow,
      accounts: async (id) => (leases.has(id) ? servers.accounts(id) : notOurs),
    },
    onAccepted() {
      leases.wake();
      reachability?.wake();
      workersOfInventory?.followInventory();
    },
    clock,
    log,
  });
  reachability = createReachability({
    db,
    servers,
    leases,
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
  const jobs = await startJobs({ connection: options.connection, db, listener, leases, log });
  const secrets = createSecretReader(options.secrets, dirname(options.inventoryFile));

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
  await leases.start(createLeaseListener({ backups, workers, inventory, contacts }));
  if (isRunner) {
    await backups.resume();
    await jobs.work(
      {
        ...workers.handlers,
        ...backups.handlers,
        "self-backup": async () => nightly?.run(),
        async upkeep() {
          // The night's was missed, or this is the first start that is to make one.
          if (nightly !== null && (await nightly.isDue())) await jobs.send(db, "self-backup", {});
          await events.prune();
          await webhooks.catchUp();
          await notifications.catchUp();
          await pruneLimits(db);
        },
      },
      // One that is not set up to would let the night pass.
      nightly === null ? ["self-backup"] : [],
    );
    await webhooks.resume();
    await notifications.resume();
    events.resume();
  }

  const deployments = createDeploymentService({ db, noteForWorkers: workers.noteDeployment });
  const routes = [
    ...backups.routes,
    ...workers.routes,
    ...webhooks.routes,
    ...notifications.routes,
    ...deploymentRoutes(deployments, inventoryStore),
    ...activityRoutes(createActivityStore(db)),
    ...searchRoutes(createSearchService(db)),
    ...overviewRoutes({
      db,
      workers,
      backups,
      selfBackup: async () => nightly?.problem() ?? null,
      dataFolder: options.dataFolder,
    }),
    ...serverRoutes(inventoryStore, host, contacts),
    ...discoveryRoutes(inventoryStore, servers, workers, secrets),
    ...inventoryEditing({
      ...options,
      db,
      live: inventory,
      store: inventoryStore,
      tests: {
        ...backups.entryTests,
        server: createTryServer({ local: host, ...sshOptions }),
        channel: notifications.testEntry,
      },
      secrets,
    }),
    ...tokens.routes,
    ...doctorRoutes({ options, host, sshOptions }),
    ...installationRoutes({
      version: options.version,
      account: options.account.name,
      isolates_sites: options.account.isRoot,
    }),
  ];
  let refusal: string | null = null;
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
          "This instance serves no dashboard: its QUARTERDECK_ROLE is runner. Open one whose role is all or api.",
        ),
    routes,
    registry,
    metrics: [
      workers.metrics,
      backups.metrics,
      webhooks.metrics,
      notifications.metrics,
      events.metrics,
    ],
    unavailableReason: () => refusal,
  });

  return {
    fetch: web.fetch,
    // The operator's own token gets them in. Made last, because its minutes count from here.
    signInCode: options.token === null ? await tokens.issueCode() : null,
    inventoryProblem: inventory.problem,
    readInventory: inventory.read,
    refuse: (reason) => {
      refusal = reason;
    },
    async close(workersOnStop) {
      const inventoryClosed = inventory.close();
      await leases.stop();
      await nightly?.stop();
      await backups.stop();
      // What happens from here on is still stored, and dispatched by the next service.
      await events.stop();
      await Promise.all([webhooks.stop(), notifications.stop()]);
      await jobs.stop(jobsDrainMs);
      await workers.stop(workersOnStop);
      await leases.release();
      await listener.stop();
      network.close();
      const contactsStopped = contacts.stop();
      await servers.close();
      await contactsStopped;
      // Servers that are closed keep it waiting no longer.
      await inventoryClosed;
      await databaseClock?.stop();
      await closeDatabase();
    },
  };
}
