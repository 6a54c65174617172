// Restarts the database when it ends by itself, with increasing delays while that fails, until `stop`.
import type { Clock } from "../../clock.ts";
import type { Log } from "./log.ts";
import type { Server } from "./server.ts";
import { toError } from "../../to-error.ts";

const firstDelayMs = 1000;
const longestDelayMs = 30_000;
/** A database that has been up for this time counts as stable, so that the next restart begins with the short delay again. */
const soundAfterMs = 60_000;

type WatchdogOptions = {
  first: Server;
  log: Log;
  clock: Clock;
  /** Called with the reason after each failure of the database or of a restart; null = it is up again. */
  onDiagnosis: (reason: string | null) => void;
  /** Returns why a server ended, for operators. */
  explain: (server: Server, ending: string) => Promise<string>;
  /** @throws an error whose message is for operators */
  restart: () => Promise<Server>;
  end: (server: Server) => Promise<void>;
  /** Aborted by `stop`, for operations of the watchdog. */
  stopping: AbortController;
};

type Watchdog = {
  /** Null while the database is down. */
  current: () => Server | null;
  /** Ends the server, or the attempt to start one. Idempotent. */
  stop: () => Promise<void>;
};

export function createWatchdog(options: WatchdogOptions): Watchdog {
  const { log, clock, onDiagnosis, explain, restart, end, stopping } = options;
  let server: Server | null = null;
  let upSinceMs = 0;
  let delayMs = firstDelayMs;
  let cancelTimer = () => {};
  let attempt = Promise.resolve();
  let stopped: Promise<void> | null = null;
  let lastReason: string | null = null;
  const isStopping = () => stopping.signal.aborted;

  const fall = (reason: string) => {
    // Logged once, because the cause, such as a full disk, may last for days.
    if (reason !== lastReason) log.error(reason);
    lastReason = reason;
    onDiagnosis(reason);
    cancelTimer = clock.after(delayMs, () => {
      attempt = bringBack();
    });
    delayMs = Math.min(delayMs * 2, longestDelayMs);
  };

  const guard = async (guarded: Server) => {
    server = guarded;
    upSinceMs = clock.now();
    const ending = await guarded.ended;
    if (isStopping()) return;
    server = null;
    if (clock.now() - upSinceMs >= soundAfterMs) delayMs = firstDelayMs;
    const reason = await explain(guarded, ending);
    if (!isStopping()) fall(reason);
  };

  const bringBack = async () => {
    try {
      void guard(await restart());
    } catch (error) {
      if (!isStopping()) fall(toError(error).message);
      return;
    }
    if (isStopping()) return;
    log.info("The database is up again.");
    lastReason = null;
    onDiagnosis(null);
  };

  const stop = async () => {
    stopping.abort();
    cancelTimer();
    await attempt;
    if (server) await end(server);
    server = null;
  };

  void guard(options.first);
  return { current: () => server, stop: () => (stopped ??= stop()) };
}
