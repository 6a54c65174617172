// The database that comes with the service: started or taken over, kept up, and stopped.
import { systemClock, type Clock } from "../../clock.ts";
import { findBinaryPackage, prepareBinaries, removeOldCopies } from "./binaries.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { initializeData, writeAccessRules } from "./initialize.ts";
import { createWatchdog } from "./watchdog.ts";
import { keepLogShort } from "./log-file.ts";
import type { Log } from "./log.ts";
import { findPassword } from "./password.ts";
import { findPlace, writePointerFile } from "./place.ts";
import { endServer } from "./processes.ts";
import { connectionTo, type Connection } from "./questions.ts";
import { startServer } from "./server.ts";
import { takeOver } from "./take-over.ts";
import { explainEnd, type RetryHint } from "./diagnosis.ts";

export { EmbeddedPostgresError };

export type EmbeddedPostgres = {
  /** For `pg.Pool`; stays the same over restarts of the database. */
  connection: Connection;
  /** The account that the database runs as. */
  uid: number;
  /** Of the server's first process; another one after a restart, null while it is down. */
  pid: () => number | null;
  /** Ends the database in good order, and past the deadline at once; nothing is lost either way. Idempotent. */
  stop: () => Promise<void>;
};

export type EmbeddedPostgresOptions = {
  /** A folder for the database alone, directly in the service's data folder, whose lock the caller holds. */
  folder: string;
  log: Log;
  /** Told why the database is down, in operator's words, at its fall and at each attempt that failed; null = it is up again. */
  onDiagnosis?: (reason: string | null) => void;
  clock?: Clock;
  /** How long `stop` waits for the database's last writes. */
  stopDeadlineMs?: number;
};

const immediateStopMs = 3000;

/** @throws {EmbeddedPostgresError} the database cannot run; the message says why and what to do. */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  try {
    return await start(options);
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new EmbeddedPostgresError(
      `The database in ${options.folder} cannot be started (${why}).`,
      { cause: error },
    );
  }
}

async function start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { folder, log, onDiagnosis = () => {}, clock = systemClock } = options;
  const { stopDeadlineMs = 10_000 } = options;
  const binaryPackage = await findBinaryPackage();
  const { version } = binaryPackage;
  const place = await findPlace(folder, log);
  const binaries = await prepareBinaries(binaryPackage, place.account, place.programs, log);
  await writeAccessRules(place);
  await initializeData(place, binaries, version);
  const password = await findPassword(place, binaries);
  await writePointerFile(place, log);

  const stopping = new AbortController();
  const { signal } = stopping;
  const takeOverOrStart = async (retryHint: RetryHint) =>
    (await takeOver({ place, binaries, version, password, clock, log, signal })) ??
    startServer({ place, binaries, password, log, retryHint, signal });
  const first = await takeOverOrStart(", then start Quarterdeck again.");
  await removeOldCopies(place.programs, binaries);
  keepLogShort(place.logFile, clock, log, signal);

  const retryHint = "; the database comes back by itself.";
  const watchdog = createWatchdog({
    first,
    log,
    clock,
    onDiagnosis,
    stopping,
    explain: ({ logStartBytes }, ending) => explainEnd(place, logStartBytes, ending, retryHint),
    restart: () => takeOverOrStart(retryHint),
    end: ({ pid }) => endServer(place, pid, { fast: stopDeadlineMs, immediate: immediateStopMs }),
  });
  return {
    connection: connectionTo(place, password.text),
    uid: place.account.uid,
    pid: () => watchdog.current()?.pid ?? null,
    stop: watchdog.stop,
  };
}
