// Provides temporary folders in memory, because tests write, sync and delete thousands of files, which is slow on a disk.
import { readdirSync, readlinkSync } from "node:fs";
import { chmod, mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive, sendSignal } from "./signals.ts";

const memory = "/dev/shm";
/** Several times the size of all databases of a run together. */
const minFreeBytes = 4 * 1024 ** 3;
/** The prefix, the pid of the process that made the folder, and the suffix of `mkdtemp`. */
const namePattern = /^quarterdeck-[a-z0-9]+-(\d+)-\w{6}$/;

/**
 * Makes a new folder in memory, or in the system's temporary folder if there is too little memory.
 * @param prefix start of its name: `quarterdeck-`, a word, a hyphen
 */
export async function makeMemoryFolder(prefix: `quarterdeck-${string}-`): Promise<string> {
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return mkdtemp(join(free < minFreeBytes ? tmpdir() : memory, `${prefix}${process.pid}-`));
}

/**
 * Makes this process, and those that it starts from now on, write temporary files to memory.
 * @returns a function that removes the files
 */
export async function keepTemporaryInMemory(): Promise<() => Promise<void>> {
  const folder = await makeMemoryFolder("quarterdeck-tmp-");
  // The same mode as `/tmp`.
  await chmod(folder, 0o1777);
  process.env["TMPDIR"] = folder;
  return () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes folders of test runs that were killed, and kills the processes that still use them. */
export async function removeDeadFolders(): Promise<void> {
  for (const parent of new Set([memory, tmpdir()]))
    for (const name of namesIn(parent)) {
      const maker = namePattern.exec(name)?.[1];
      if (maker === undefined || isAlive(Number(maker))) continue;
      const folder = join(parent, name);
      for (const pid of processesOf(folder)) killIfThere(pid);
      // Fails for a folder of another account, one that another run is removing, or one with a mount or an immutable file. Not
      // retried, because each run would wait for that.
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
}

/** Kills a process, which another run may be killing, too. */
function killIfThere(pid: number): void {
  try {
    sendSignal(pid, "SIGKILL");
  } catch (error) {
    if (isAlive(pid)) throw error;
  }
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** Returns the pids of processes whose working folder or an open file is in a folder. */
function processesOf(folder: string): number[] {
  const isInside = (link: string) => {
    const path = readlinkSync(link);
    return path === folder || path.startsWith(`${folder}/`);
  };
  return namesIn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const files = namesIn(`/proc/${pid}/fd`).map((file) => `fd/${file}`);
      return ["cwd", ...files].some((link) => {
        try {
          return isInside(`/proc/${pid}/${link}`);
        } catch {
          // The process has ended, or belongs to another account.
          return false;
        }
      });
    })
    .map(Number);
}
