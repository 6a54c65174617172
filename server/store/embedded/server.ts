// Starts the database server, and waits until it responds.
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

/** A running server: a child process, or one that was taken over. */
export type Server = {
  pid: number;
  /** Resolves with how the process ended. */
  ended: Promise<string>;
  /** Size of the log at the start. */
  logStartBytes: number;
};

type ServerOptions = {
  place: Place;
  binaries: Binaries;
  password: Password;
  log: Log;
  /** End of the message about a failed start. */
  retryHint: RetryHint;
  /** Aborts the start. */
  signal: AbortSignal;
};

const readyPollMs = 10;
/** Recovery after a crash replays up to `max_wal_size`, which takes seconds. A longer start means that something is wrong. */
const readyDeadlineMs = 300_000;
const slowStartMs = 10_000;
const failedStartDeadlinesMs = { fast: 3000, immediate: 3000 };

/**
 * Starts the server. No process is left behind after a failure.
 * @throws {EmbeddedPostgresError} the server ended or does not respond; the message says why
 */
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
      // In a process group of its own, because Ctrl-C in the terminal is meant for the service, which stops the database last.
      detached: true,
      stdio: ["ignore", logFile.fd, logFile.fd],
    });
    // Does not keep a service running that exits without stopping the database; the next start takes the database over.
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
