// Starts the service from its environment, and shuts it down on a signal. The only file that reads `process.*`.
import { closeSync, existsSync, fstatSync, openSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import { createRequire } from "node:module";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";
import { signInCodeMinutes } from "../contract/tokens.ts";
import { createApp } from "./app.ts";
import { systemClock } from "./clock.ts";
import { publicUrlProblem, readConfig, readSecretFiles, type Config } from "./config.ts";
import { lockDataFolder } from "./data-lock.ts";
import { refuseHalfRestored } from "./self-backup/restore-folder.ts";
import { exposedSecrets } from "./environment/exposed.ts";
import { takeEnvironment } from "./environment/handover.ts";
import { baseUrlOf, createAllowedHosts } from "./http/allowed-hosts.ts";
import { listen } from "./http/listen.ts";
import { readHome } from "./instances/home.ts";
import { accountName, ownAccount } from "./hosts/account.ts";
import { createLog } from "./log.ts";
import { expectedErrorMessage } from "./expected-error.ts";
import { watchParent, watchSignals } from "./signals.ts";
import { startEmbeddedPostgres } from "./store/embedded/embedded-postgres.ts";
import { openForStart } from "./store/own-server.ts";
import { createUpstreamApp } from "./upstream/upstream.ts";
import { workerEnvironment } from "./workers/environment.ts";
import { supportsAdoption } from "./workers/supervisor/process-table.ts";

/** How long running requests may continue once the service is told to stop. */
const requestDrainMs = 5000;
/**
 * How long the shutdown may take after `requestDrainMs` where workers keep running. Without a limit, it would wait forever for a
 * database that hangs; the next start settles what is cut off, as after a kill.
 */
const closeLimitMs = 15_000;
/** File descriptors of the standard streams. */
const stdout = 1;
const stderr = 2;

const builtDashboard = fileURLToPath(new URL("../dist", import.meta.url));
const dashboardFolder = existsSync(join(builtDashboard, "index.html")) ? builtDashboard : null;
const environment = takeEnvironment(process);
const log = createLog("info");
const { version }: { version: string } = createRequire(import.meta.url)("../package.json");

let isStopping = false;
let reload: () => void = () => {};
let endDatabaseAtOnce: () => void = () => {};

/** Ends each part that was started; called in the opposite order. */
const started: ((workers: "keep" | "stop") => void | Promise<void>)[] = [];

async function main() {
  const config = readConfig(readSecretFiles(environment), process.getuid?.() === 0);
  log.level = config.logLevel;
  warnOfExposedSecrets(config.inventoryFile);
  const problem = publicUrlProblem(config.publicUrl);
  if (problem !== null) log.warn(problem);
  const hadTerminal = isatty(stdout);
  watchSignals(
    {
      on: (signal, run) => process.on(signal, run),
      isUnderNpm: environment["npm_lifecycle_event"] !== undefined,
      hasLostTerminal: () => hadTerminal && !isatty(stdout),
      nowMs: () => performance.now(),
    },
    {
      stop: (signal) => void exitBySignal(signal, config.workersOnStop),
      endAtOnce,
      reload: () => reload(),
    },
  );
  if (environment["npm_lifecycle_event"] === "npx")
    watchParent(
      () => process.ppid,
      () => process.kill(process.pid, "SIGTERM"),
    );
  if (config.upstream !== null) return startInFrontOf(config.upstream, config);

  const lock = lockDataFolder(config.dataFolder);
  started.push(() => lock.release());
  refuseHalfRestored(config.dataFolder);

  let address = config.publicUrl;
  let onDiagnosis: (reason: string | null) => void = () => undefined;
  const { connection, reservedAccounts } =
    config.databaseUrl === null
      ? await startDatabase(config.dataFolder, (reason) => onDiagnosis(reason))
      : {
          connection: await openForStart(config.databaseUrl, () =>
            log.info({ setting: "DATABASE_URL" }, "waiting for the database"),
          ),
          reservedAccounts: [],
        };
  const own = ownAccount();
  const app = await createApp({
    connection,
    instance:
      config.databaseUrl === null
        ? null
        : {
            name: config.instance.name,
            home: readHome(config.dataFolder),
            role: config.role,
            address: config.instance.url,
            version,
          },
    dataFolder: config.dataFolder,
    inventoryFile: config.inventoryFile,
    isInventoryReadOnly: config.isInventoryReadOnly,
    token: config.token,
    rateLimit: config.rateLimit,
    publicUrl: config.publicUrl,
    isAllowedHost: allowedHosts(config),
    address: () => address,
    allow: config.allow,
    smtp: config.smtp,
    keepDays: config.keepDays,
    selfBackup: config.selfBackup,
    dashboardFolder,
    secrets: environment,
    reservedAccounts,
    workerEnvironment: workerEnvironment(environment, dirname(process.execPath)),
    invalidResponse: "log",
    secondConnection: "log",
    version,
    nodeVersion: process.version,
    account: { name: accountName(own), isRoot: own.uid === 0 },
    clock: systemClock,
    goesByDatabase: config.databaseUrl !== null,
    log,
  });
  onDiagnosis = app.refuse;
  reload = () => {
    log.info("reading the inventory again");
    app.readInventory();
  };
  started.push((workers) =>
    workers === "keep" ? withinCloseLimit(app.close(workers)) : app.close(workers),
  );

  const server = await listen(app.fetch, config.port, config.host);
  started.push(() => {
    app.prepareStop();
    return closeServer(server);
  });
  address ??= addressOf(server, config.host);
  announce(address, app.signInCode);
}

/** Without root, workers run as the service's own user and can read the environment of npm, which may hold its secrets. */
function warnOfExposedSecrets(inventoryFile: string): void {
  if (process.getuid?.() === 0) return;
  const inventory = existsSync(inventoryFile) ? readFileSync(inventoryFile, "utf8") : "";
  const variables = exposedSecrets(environment, inventory, process.pid);
  if (variables.length > 0)
    log.warn(
      { variables },
      "every program of this account can read these secrets in the environment of a process that started the service; give them as file:/path instead, or start the service as docs/quarterdeck.service does",
    );
}

/** Starts the dashboard in front of another service: without a database, a data folder or workers. */
async function startInFrontOf(upstream: string, config: Config) {
  const { port, host, publicUrl } = config;
  const isAllowedHost = allowedHosts(config);
  const app = createUpstreamApp({
    upstream,
    publicUrl,
    isAllowedHost,
    dashboardFolder,
    version,
    log,
  });
  const server = await listen(app.fetch, port, host);
  started.push(() => closeServer(server));
  log.info({ upstream }, "what is asked of /api is passed on");
  announce(publicUrl ?? addressOf(server, host), null);
}

const allowedHosts = ({ host, publicUrl, instance }: Config) =>
  createAllowedHosts({
    listensOn: host,
    publicUrl,
    instanceUrl: instance.url,
    machineName: hostname(),
  });

async function startDatabase(dataFolder: string, onDiagnosis: (reason: string | null) => void) {
  const postgres = await startEmbeddedPostgres({
    folder: join(dataFolder, "postgres"),
    onDiagnosis,
    log,
  });
  started.push(() => postgres.stop());
  endDatabaseAtOnce = postgres.stopWithoutWaiting;
  // Without root, the database runs as the same account as everything else.
  const reservedAccounts = ownAccount().uid === 0 ? [postgres.uid] : [];
  return { connection: postgres.connection, reservedAccounts };
}

async function exitBySignal(
  signal: "SIGINT" | "SIGTERM" | "SIGHUP",
  asked: Config["workersOnStop"],
) {
  isStopping = true;
  if (signal === "SIGHUP") forgetTerminal();
  const bySignal = signal === "SIGINT" || !supportsAdoption ? "stop" : "keep";
  const workers = asked === "by signal" ? bySignal : asked;
  log.info({ signal, workers }, "stopping");
  process.exit((await endAll(workers)) ? 0 : 1);
}

/** Writing to a terminal that was closed fails, and the log would retry forever. */
function forgetTerminal() {
  for (const file of [stdout, stderr])
    if (!isatty(file) && fstatSync(file).isCharacterDevice()) {
      // The system gives a new file the lowest free descriptor.
      closeSync(file);
      openSync("/dev/null", "w");
    }
}

/** Exits at once. The next start takes over the workers, and the database if that has not ended by then. */
function endAtOnce() {
  log.warn("ending at once; workers that have not ended yet are taken up by the next start");
  endDatabaseAtOnce();
  process.exit(130);
}

/** @returns whether every part ended within its time */
async function endAll(workers: "keep" | "stop"): Promise<boolean> {
  let inOrder = true;
  for (const end of started.splice(0).toReversed())
    try {
      await end(workers);
    } catch (error) {
      inOrder = false;
      log.error({ err: error }, "a part of the service did not stop in order");
    }
  return inOrder;
}

const withinCloseLimit = (closing: Promise<void>): Promise<void> =>
  Promise.race([
    closing,
    wait(closeLimitMs).then(() => {
      throw new Error(`What was under way did not end within ${closeLimitMs / 1000} s.`);
    }),
  ]);

/** Waits for running requests, then closes the connections that are left. */
const closeServer = (server: Server) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), requestDrainMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
  });

function addressOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return baseUrlOf(host, port);
}

/** Prints the one address to open. The sign-in code is printed to a terminal only, and never logged. */
function announce(address: string, signInCode: string | null): void {
  const url = `${address}/`;
  log.info({ url }, "ready");
  process.stdout.write(
    signInCode === null
      ? `\n  Quarterdeck is ready: ${url}\n\n`
      : `\n  Quarterdeck is ready. Sign in with this link. The link works once, for ${signInCodeMinutes} minutes:\n\n  ${url}#code=${signInCode}\n\n  If the link has expired, restart the service: each start prints a new link until someone has signed in.\n\n`,
  );
}

// Logs the error as everything else is logged: Node would print every object attached to it. Exits with the same code as Node.
process.on("uncaughtException", (error, origin) => {
  log.fatal({ err: error, origin }, "the service ends: an error that nobody awaited");
  process.exit(1);
});

try {
  await main();
} catch (error) {
  // A stop during the start makes the start fail. The stop then ends the process.
  if (!isStopping) {
    const words = expectedErrorMessage(error);
    if (words === null) log.fatal({ err: error }, "the service could not start");
    else process.stderr.write(`\n${words}\n\n`);
    await endAll("keep");
    process.exit(1);
  }
}
