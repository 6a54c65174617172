// From the environment to a listening service, and from a signal to a tidy end.
// The only file that reads `process.*`.
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve, type ServerType } from "@hono/node-server";
import { pino } from "pino";
import { createApp } from "./app.ts";
import { systemClock } from "./clock.ts";
import { ConfigError, readConfig, type Config } from "./config.ts";
import { describeDatabaseError } from "./store/database-error.ts";
import { DataFolderInUse, lockDataFolder } from "./store/embedded/data-lock.ts";
import { EmbeddedPostgresError } from "./store/embedded/embedded-postgres-error.ts";
import { startEmbeddedPostgres } from "./store/embedded/embedded-postgres.ts";
import { createUpstreamApp } from "./upstream/upstream.ts";
import { workerEnvironment } from "./workers/environment.ts";
import { supportsAdoption } from "./workers/supervisor/supervisor.ts";

/** How long requests that are under way may take once the service was told to stop. */
const requestDrainMs = 5000;

const builtDashboard = fileURLToPath(new URL("../dist", import.meta.url));
const dashboardFolder = existsSync(join(builtDashboard, "index.html")) ? builtDashboard : null;
const log = pino({ level: process.env["LOG_LEVEL"] ?? "info" });
const { version } = createRequire(import.meta.url)("../package.json") as { version: string };

/** What has been started, in order; it is ended in the opposite one. */
const started: ((workers: "keep" | "stop") => void | Promise<void>)[] = [];

async function main() {
  const config = readConfig(process.env, process.getuid?.() === 0);
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => void exitBySignal(signal, config.workersOnStop));
  if (config.upstream !== null) return startInFrontOf(config.upstream, config);

  await mkdir(config.dataFolder, { recursive: true, mode: 0o700 });
  const lock = lockDataFolder(config.dataFolder);
  started.push(() => lock.release());

  let address = config.publicUrl;
  let onTrouble: (reason: string | null) => void = () => undefined;
  const connection =
    config.databaseUrl === null
      ? await startDatabase(config.dataFolder, (reason) => onTrouble(reason))
      : { connectionString: config.databaseUrl };
  const app = await createApp({
    connection,
    dataFolder: config.dataFolder,
    inventoryFile: config.inventoryFile,
    token: config.token,
    rateLimit: config.rateLimit,
    publicUrl: config.publicUrl,
    address: () => address,
    allow: config.allow,
    smtp: config.smtp,
    keepDays: config.keepDays,
    dashboardFolder,
    secrets: process.env,
    workerEnvironment: workerEnvironment(process.env, dirname(process.execPath)),
    invalidAnswer: "log",
    version,
    clock: systemClock,
    log,
  });
  onTrouble = app.refuse;
  started.push((workers) => app.close(workers));

  const server = await listen(app.fetch, config.port, config.host);
  started.push(() => {
    app.refuse("The service is shutting down.");
    return closeServer(server);
  });
  address ??= addressOf(server, config.host);
  announce(address, app.firstToken);
}

/** Without a database, a data folder and workers: all that is the other service's. */
async function startInFrontOf(upstream: string, { port, host, publicUrl }: Config) {
  const app = createUpstreamApp({ upstream, dashboardFolder, version, log });
  const server = await listen(app.fetch, port, host);
  started.push(() => closeServer(server));
  log.info({ upstream }, "what is asked of /api is passed on");
  announce(publicUrl ?? addressOf(server, host), null);
}

async function startDatabase(dataFolder: string, onTrouble: (reason: string | null) => void) {
  const postgres = await startEmbeddedPostgres({
    folder: join(dataFolder, "postgres"),
    onTrouble,
    clock: systemClock,
    log,
  });
  started.push(() => postgres.stop());
  return postgres.connection;
}

let isStopping = false;

async function exitBySignal(signal: "SIGINT" | "SIGTERM", asked: Config["workersOnStop"]) {
  // A terminal sends Ctrl-C to npm and to us, and npm passes it on once more.
  if (isStopping) return;
  isStopping = true;
  const bySignal = signal === "SIGINT" || !supportsAdoption ? "stop" : "keep";
  const workers = asked === "by signal" ? bySignal : asked;
  log.info({ signal, workers }, "stopping");
  process.exit((await endAll(workers)) ? 0 : 1);
}

/** @returns whether everything ended in order */
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

const listen = (fetch: Parameters<typeof serve>[0]["fetch"], port: number, hostname: string) =>
  new Promise<ServerType>((resolve, reject) => {
    const server = serve({ fetch, port, hostname }, () => resolve(server));
    server.once("error", reject);
  });

/** Lets running requests end, then cuts off what is left. */
const closeServer = (server: ServerType) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      if ("closeAllConnections" in server) server.closeAllConnections();
    }, requestDrainMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
  });

function addressOf(server: ServerType, host: string): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const name = ["127.0.0.1", "0.0.0.0", "::", "::1"].includes(host) ? "localhost" : host;
  return `http://${name}:${port}`;
}

/** Tells the one address to open. The token goes to the terminal only, and into no log. */
function announce(address: string, firstToken: string | null): void {
  const url = `${address}/`;
  log.info({ url }, "ready");
  process.stdout.write(
    firstToken === null
      ? `\n  Quarterdeck is ready: ${url}\n\n`
      : `\n  Quarterdeck is ready. Open it with your first token, which is shown only now:\n\n  ${url}#token=${encodeURIComponent(firstToken)}\n\n`,
  );
}

try {
  await main();
} catch (error) {
  // What the operator can mend is told in one sentence; a stack would hide it.
  const words = operatorWords(error);
  if (words === null) log.fatal({ err: error }, "the service could not start");
  else process.stderr.write(`\n${words}\n\n`);
  await endAll("keep");
  process.exit(1);
}

function operatorWords(error: unknown): string | null {
  if (error instanceof ConfigError || error instanceof DataFolderInUse) return error.message;
  if (error instanceof EmbeddedPostgresError) return error.message;
  const { code, port } = error as { code?: string; port?: number };
  if (code === "EADDRINUSE") return `Port ${port} is taken. Choose another one with PORT.`;
  if (code === "EACCES" && port !== undefined)
    return `Port ${port} may not be opened by this account. Choose one above 1023 with PORT.`;
  return describeDatabaseError(error);
}
