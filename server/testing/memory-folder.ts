// Folders for what tests write: files made, synced and deleted by the thousand, which a disk is slow at.
import { readdirSync, readlinkSync } from "node:fs";
import { chmod, mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive, sendSignal } from "./signals.ts";

const memory = "/dev/shm";
/** Several times what all databases of a run take together. */
const minFreeBytes = 4 * 1024 ** 3;
/** The prefix, the process that made it, what `mkdtemp` adds. */
const namePattern = /^quarterdeck-[a-z0-9]+-(\d+)-\w{6}$/;

/**
 * Makes a new folder in memory, or among the system's temporary ones where there is too little of it.
 * @param prefix what its name begins with: `quarterdeck-`, a word, a hyphen
 */
export async function makeMemoryFolder(prefix: `quarterdeck-${string}-`): Promise<string> {
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return mkdtemp(join(free < minFreeBytes ? tmpdir() : memory, `${prefix}${process.pid}-`));
}

/**
 * Has this process, and all that it starts from now on, put temporary files in memory.
 * @returns removes them
 */
export async function keepTemporaryInMemory(): Promise<() => Promise<void>> {
  const folder = await makeMemoryFolder("quarterdeck-tmp-");
  // As the system's own.
  await chmod(folder, 0o1777);
  process.env["TMPDIR"] = folder;
  return () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes the folders of runs that were killed, with the processes that still live there. */
export async function removeDeadFolders(): Promise<void> {
  for (const parent of new Set([memory, tmpdir()]))
    for (const name of namesIn(parent)) {
      const maker = namePattern.exec(name)?.[1];
      if (maker === undefined || isAlive(Number(maker))) continue;
      const folder = join(parent, name);
      for (const pid of processesOf(folder)) killIfThere(pid);
      // Another account's, one that another run removes just now, or one that holds a mount or what is immutable: not tried again
      // and again, which each run would wait for.
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
}

/** Another run may end the same ones just now. */
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

/** Those that work in a folder, or have a file of it open. */
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
          // It has ended, or is another account's.
          return false;
        }
      });
    })
    .map(Number);
}
