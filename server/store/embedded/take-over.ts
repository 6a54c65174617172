// What a killed service left: its database server is taken over if it is the one we would start, and cleared away otherwise.
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
  /** Of the package with the binaries. */
  version: string;
  password: Password;
  clock: Clock;
  log: Log;
  /** Ends the watch over a server that was taken over. */
  signal: AbortSignal;
};

const deadlinesMs = { fast: 3000, immediate: 3000 };

/** Answers with the server that runs on this data, or null when there is none, or none any more. */
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
  // PostgreSQL clears these away itself, but not when the number in one was given to another program, or belongs to a process that
  // has ended and is never reaped, as in a container whose first program is no init.
  for (const path of [
    processes.postmasterFilePath(place),
    join(place.socketFolder, socketLockName),
  ]) {
    await rm(path, { force: true });
  }
  return null;
}

/** Same programs, same data, same settings: what PostgreSQL noted of its command line is what we would start. */
async function runsAsWeWould({ place, binaries }: TakeOverOptions): Promise<boolean> {
  const noted = await readFile(join(place.data, "postmaster.opts"), "utf8").catch(() => "");
  const quoted = serverArguments(place).map((argument) => ` "${argument}"`);
  return noted.trimEnd() === (await realpath(binaries.postgres)) + quoted.join("");
}

async function answers({ place, version, password }: TakeOverOptions): Promise<boolean> {
  // A password that was lost is set while no server runs.
  if (!password.isKept()) return false;
  const answer = await askServer(place, password.text).catch(() => null);
  // "18.4" of a package "18.4.0-beta.17": an update of the programs in place leaves the command line as it was.
  return answer !== null && version.startsWith(`${answer.serverVersion}.`);
}

/** A process that is not our child tells nobody of its end, so it is looked after. */
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
