// Takes over the database server that a killed service left, if it is the one that would be started, and ends it otherwise.
import { readFile, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../clock.ts";
import type { Binaries } from "./binaries.ts";
import { logSizeBytes } from "./log-file.ts";
import type { Log } from "./log.ts";
import type { Password } from "./password.ts";
import type { Place } from "./place.ts";
import * as processes from "./processes.ts";
import { askServer } from "./questions.ts";
import type { Server } from "./server.ts";
import { serverArguments, socketLockName, watchIntervalMs } from "./settings.ts";

type TakeOverOptions = {
  place: Place;
  binaries: Binaries;
  /** Version of the package with the binaries. */
  version: string;
  password: Password;
  clock: Clock;
  log: Log;
  /** Ends watching a server that was taken over. */
  signal: AbortSignal;
};

const deadlinesMs = { fast: 3000, immediate: 3000 };

/** Returns the server that runs on this data; null when there is none, or when it was ended. */
export async function takeOver(options: TakeOverOptions): Promise<Server | null> {
  const { place, clock, log, signal } = options;
  const file = await processes.readPostmasterFile(place);
  if (file && (await processes.isServer(file.pid, place))) {
    if ((await runsAsWeWould(options)) && (await answers(options))) {
      log.info(`Took over the database that was still running (process ${file.pid}).`);
      const logStartBytes = await logSizeBytes(place.logFile);
      return { pid: file.pid, ended: watch(file.pid, clock, signal), logStartBytes };
    }
    await processes.endServer(place, file.pid, deadlinesMs);
  }
  if (file) await processes.killOrphans(place);
  // PostgreSQL removes these files itself, unless the pid in one was reused, or belongs to a zombie that is never reaped, as in a
  // container whose first program is not an init.
  for (const path of [
    processes.postmasterFilePath(place),
    join(place.socketFolder, socketLockName),
  ]) {
    await rm(path, { force: true });
  }
  return null;
}

/** Whether the server has the same programs, data and settings, by the command line that PostgreSQL recorded. */
async function runsAsWeWould({ place, binaries }: TakeOverOptions): Promise<boolean> {
  const noted = await readFile(join(place.data, "postmaster.opts"), "utf8").catch(() => "");
  const quoted = serverArguments(place).map((argument) => ` "${argument}"`);
  return noted.trimEnd() === (await realpath(binaries.postgres)) + quoted.join("");
}

async function answers({ place, version, password }: TakeOverOptions): Promise<boolean> {
  // A lost password can only be set while no server runs.
  if (!password.isKept()) return false;
  const answer = await askServer(place, password.text).catch(() => null);
  // "18.4" of a package "18.4.0-beta.17": an update of the programs in place does not change the command line.
  return answer !== null && version.startsWith(`${answer.serverVersion}.`);
}

/** Polls the process, because only the parent of a process is notified of its end. */
function watch(pid: number, clock: Clock, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    let cancelTimer = () => {};
    const look = async () => {
      if (!(await processes.isAlive(pid))) return resolve("its process is gone");
      if (!signal.aborted) cancelTimer = clock.after(watchIntervalMs, () => void look());
    };
    signal.addEventListener("abort", () => cancelTimer());
    void look();
  });
}
