// Starts a database, with parameters that only this folder's tests need: a clock, deadlines, the process.
import { systemClock, type Clock } from "../../clock.ts";
import {
  type BinaryPackage,
  findBinaryPackage,
  prepareBinaries,
  removeOldCopies,
} from "./binaries.ts";
import { explainEnd, explainText, type RetryHint } from "./diagnosis.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { initializeData, writeAccessRules } from "./initialize.ts";
import { keepLogShort } from "./log-file.ts";
import type { Log } from "./log.ts";
import { findPassword } from "./password.ts";
import { findPlace, type Place, writePointerFile } from "./place.ts";
import { endServer, requestShutdown } from "./processes.ts";
import { connectionTo, type Connection } from "./questions.ts";
import { startServer } from "./server.ts";
import { takeOver } from "./take-over.ts";
import { createWatchdog } from "./watchdog.ts";
import { toError } from "../../to-error.ts";

export type Instance = {
  connection: Connection;
  uid: number;
  /** Process id of the server; changes with a restart, null while it is down. */
  pid: () => number | null;
  stop: () => Promise<void>;
  stopWithoutWaiting: () => void;
};

export type InstanceOptions = {
  folder: string;
  log: Log;
  onDiagnosis?: (reason: string | null) => void;
  clock?: Clock;
  /** How long `stop` waits for the database's last writes; milliseconds. */
  stopDeadlineMs?: number;
};

const immediateStopMs = 3000;
const firstStart = ", then start Quarterdeck again.";

/** @throws {EmbeddedPostgresError} */
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  try {
    return await start(options);
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    const why = toError(error).message;
    throw new EmbeddedPostgresError(`Couldn't start the database in ${options.folder}: ${why}`, {
      cause: error,
    });
  }
}

/** Prepares everything that a server needs. */
async function prepare(place: Place, binaryPackage: BinaryPackage, log: Log) {
  try {
    const binaries = await prepareBinaries(binaryPackage, place.account, place.programs, log);
    await writeAccessRules(place);
    await initializeData(place, binaries, binaryPackage.version);
    const password = await findPassword(place, binaries);
    await writePointerFile(place, log);
    return { binaries, password };
  } catch (error) {
    const { code, message } = toError(error);
    const reason =
      code === "ENOSPC" || code === "EDQUOT" ? await explainText(place, message, firstStart) : null;
    throw reason === null ? error : new EmbeddedPostgresError(reason, { cause: error });
  }
}

async function start(options: InstanceOptions): Promise<Instance> {
  const { folder, log, onDiagnosis = () => {}, clock = systemClock } = options;
  const { stopDeadlineMs = 10_000 } = options;
  const binaryPackage = await findBinaryPackage();
  const { version } = binaryPackage;
  const place = await findPlace(folder, log);
  const { binaries, password } = await prepare(place, binaryPackage, log);

  const stopping = new AbortController();
  const { signal } = stopping;
  const takeOverOrStart = async (retryHint: RetryHint) =>
    (await takeOver({ place, binaries, version, password, clock, log, signal })) ??
    startServer({ place, binaries, password, log, retryHint, signal });
  const first = await takeOverOrStart(firstStart);
  await removeOldCopies(place.programs, binaries);
  keepLogShort(place.logFile, clock, log, signal);

  const retryHint = "; the database then restarts automatically.";
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
  const pid = () => watchdog.current()?.pid ?? null;
  return {
    connection: connectionTo(place, password.text),
    uid: place.account.uid,
    pid,
    stop: watchdog.stop,
    stopWithoutWaiting() {
      const running = pid();
      if (running !== null) requestShutdown(running);
    },
  };
}
