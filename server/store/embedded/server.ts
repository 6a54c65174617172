// Starts the database server and waits for its first answer.
import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Binaries } from "./binaries.ts";
import { identity, plainEnvironment } from "./command.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { logSizeBytes, openLog, trimLog } from "./log-file.ts";
import type { Log } from "./log.ts";
import type { Password } from "./password.ts";
import type { Place } from "./place.ts";
import { endServer, readPostmasterFile } from "./processes.ts";
import { isRefused, makeDatabase } from "./questions.ts";
import { serverArguments } from "./settings.ts";
import { explainEnd, type RetryHint } from "./diagnosis.ts";
import { toError } from "../../to-error.ts";

/** A running server: a process of ours, or one that was taken over. */
export type Server = {
  pid: number;
  /** Settles with how the process ended, when it does. */
  ended: Promise<string>;
  /** How long its log was when it started. */
  logStartBytes: number;
};

type ServerOptions = {
  place: Place;
  binaries: Binaries;
  password: Password;
  log: Log;
  /** Said after the reason of a failed start. */
  retryHint: RetryHint;
  /** Gives up the start. */
  signal: AbortSignal;
};

const readyPollMs = 10;
/** Recovery after a crash replays up to `max_wal_size`: seconds. Past this something is wrong. */
const readyDeadlineMs = 300_000;
const slowStartMs = 10_000;
const failedStartDeadlinesMs = { fast: 3000, immediate: 3000 };

/** @throws {EmbeddedPostgresError} the server ended instead, or is not responding; the message says why. No process stays behind. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { password, log, retryHint } = options;
  if (!password.isKept()) await password.set(retryHint);
  try {
    return await startOnce(options);
  } catch (error) {
    if (!(error instanceof Error) || !isRefused(error.cause)) throw error;
    log.warn("The database rejected the stored password. Setting it again.");
    await password.set(retryHint);
    return startOnce(options);
  }
}

async function startOnce(options: ServerOptions): Promise<Server> {
  const { place, binaries, password, retryHint } = options;
  await trimLog(place.logFile);
  const logStartBytes = await logSizeBytes(place.logFile);
  const child = await launch(place, binaries);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, how) => resolve(how ? `signal ${how}` : `exit code ${code}`));
  });
  try {
    await waitUntilReady(child, ended, options);
    await makeDatabase(place, password.text);
  } catch (error) {
    const why = toError(error).message;
    const isAlive = child.exitCode === null && child.signalCode === null;
    if (child.pid && isAlive) await endServer(place, child.pid, failedStartDeadlinesMs);
    throw new EmbeddedPostgresError(await explainEnd(place, logStartBytes, why, retryHint), {
      cause: error,
    });
  }
  return { pid: child.pid ?? 0, ended, logStartBytes };
}

async function launch(place: Place, { postgres }: Binaries): Promise<ChildProcess> {
  const logFile = await openLog(place.logFile);
  try {
    const child = spawn(postgres, serverArguments(place), {
      ...identity(place.account),
      cwd: "/",
      env: plainEnvironment,
      // Away from the terminal: its Ctrl-C is for the service, which stops the database last.
      detached: true,
      stdio: ["ignore", logFile.fd, logFile.fd],
    });
    // A service that ends without stopping it is not held up; the next one takes it over.
    child.unref();
    return child;
  } finally {
    await logFile.close();
  }
}

async function waitUntilReady(
  child: ChildProcess,
  ended: Promise<string>,
  { place, log, signal }: ServerOptions,
): Promise<void> {
  let ending: string | null = null;
  void ended.then((how) => (ending = how));
  const startMs = performance.now();
  let isSlowTold = false;
  for (;;) {
    if (ending !== null) throw new Error(ending);
    const file = await readPostmasterFile(place);
    if (file && file.pid === child.pid && file.isReady) return;
    const elapsedMs = performance.now() - startMs;
    if (elapsedMs > readyDeadlineMs) throw new Error("it was not ready within 5 minutes");
    signal.throwIfAborted();
    if (elapsedMs > slowStartMs && !isSlowTold) {
      isSlowTold = true;
      log.info(`The database is still starting. See its log, ${place.logFile}.`);
    }
    await sleep(readyPollMs);
  }
}
