// The steps of a swap that rename, performed by the account that may: the site's, or the service's through a handle.
import { constants } from "node:fs";
import { chmod, lstat, mkdir, open, rename, rmdir } from "node:fs/promises";
import type { Account } from "../../../hosts/account.ts";
import type { Host } from "../../../hosts/host.ts";
import { defineTask } from "../../../hosts/task.ts";
import { isThere, pathOf, reachOf, whyNotSwappable, type Place } from "./place.ts";
import { SourceError } from "../source.ts";
import { folderTasks } from "./tasks.ts";
import { toError } from "../../../to-error.ts";
import { syncFolder } from "../../../sync-folder.ts";

export type Settled = "as it was" | "restored" | "unknown";

/** Error where leftovers exist, because their names are those of the same backup. */
export const stillThere =
  "Nothing was changed: what an earlier restore of this backup left has to be removed first.";

/** Creates the empty folder to extract into. @throws SourceError */
export const beginSwap = defineTask(
  folderTasks,
  "beginSwap",
  async (place: Place): Promise<void> => {
    try {
      await refuseImpossible(place);
      const fresh = reachOf(place, place.fresh);
      await makeFresh(fresh);
      if (place.owner !== null) await giveTo(place.owner, fresh);
    } catch (error) {
      throw new SourceError(inSwapWords(place, error));
    }
  },
);

/**
 * Creates an empty folder to extract into, without the set-group-ID bit of its parent, which the folders in it would inherit: tar does
 * not correct the mode of a folder that is accessible only to its owner.
 */
export async function makeFresh(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  await chmod(folder, 0o700);
}

async function giveTo({ uid, gid }: Account, folder: string): Promise<void> {
  const handle = await open(
    folder,
    constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  );
  try {
    await handle.chown(uid, gid);
  } finally {
    await handle.close();
  }
}

/** Swaps the extracted folder in. @returns whether the old folder was moved aside, and what went wrong */
export const commitSwap = defineTask(
  folderTasks,
  "commitSwap",
  async (place: Place): Promise<{ isAside: boolean; problem: string | null }> => {
    const [root, fresh, ready, old] = reachAll(place);
    let isAside = false;
    try {
      // Something may have been mounted meanwhile.
      await refuseImpossible(place);
      await rename(fresh, ready);
      await syncFolder(place.reach);
      if (await isThere(root)) {
        await rename(root, old);
        isAside = true;
      }
      await rename(ready, root);
      await syncFolder(place.reach);
      return { isAside, problem: null };
    } catch (error) {
      return { isAside, problem: inSwapWords(place, error) };
    }
  },
);

export type Outcome = {
  state: Settled;
  /** Names of folders to remove. */
  left: string[];
  /** Error where it is unknown which of two folders is the right one; neither is in `left`. */
  problem: string | null;
};

/** Completes or undoes an interrupted swap. */
export const settleSwap = defineTask(
  folderTasks,
  "settleSwap",
  async (place: Place): Promise<Outcome> => {
    const [root, fresh, ready, old] = reachAll(place);
    const has = {
      fresh: await isThere(fresh),
      ready: await isThere(ready),
      old: await isThere(old),
    };
    const left = has.fresh ? [place.fresh] : [];
    const outcome = (state: Settled, ...more: string[]): Outcome => ({
      state,
      left: [...left, ...more],
      problem: null,
    });
    if (!has.old) {
      if (has.ready) return outcome("as it was", place.ready);
      // Where nothing is left, a restore either never began or has cleaned up.
      return outcome(has.fresh ? "as it was" : "unknown");
    }
    if (has.ready) {
      const problem = await makeRoom(place);
      if (problem !== null) return { ...outcome("unknown"), problem };
      try {
        await rename(ready, root);
      } catch {
        await rename(old, root);
        await syncFolder(place.reach);
        return outcome("as it was", place.ready);
      }
    } else if (!(await isThere(root))) {
      await rename(old, root);
      await syncFolder(place.reach);
      return outcome("as it was");
    }
    await syncFolder(place.reach);
    return outcome("restored", place.old);
  },
);

const reachAll = (place: Place) =>
  [
    reachOf(place, place.root),
    reachOf(place, place.fresh),
    reachOf(place, place.ready),
    reachOf(place, place.old),
  ] as const;

/** Removes an empty folder that something else created between the two steps of the swap. @returns an error where it is not empty */
async function makeRoom(place: Place): Promise<string | null> {
  const root = reachOf(place, place.root);
  if (!(await isThere(root))) return null;
  try {
    await rmdir(root);
    return null;
  } catch {
    const shown = pathOf(place, place.root);
    return `${shown} was created again while a restore was interrupted. The restored folder is ${pathOf(place, place.ready)}, the one before it ${pathOf(place, place.old)}: move the right one to ${shown} and remove the others.`;
  }
}

async function refuseImpossible(place: Place): Promise<void> {
  const reason = await whyNotSwappable(place);
  if (reason !== null) throw new SourceError(`Nothing was changed: ${reason}.`);
  const root = reachOf(place, place.root);
  if ((await isThere(root)) && !(await lstat(root)).isDirectory())
    throw new SourceError(`Nothing was changed: ${pathOf(place, place.root)} is not a folder.`);
}

/** Syncs the file system, because the swap must not reach the disk before the content. */
export async function flushToDisk(host: Host, folder: string): Promise<void> {
  const { exitCode, stderr } = await host.run({ argv: ["sync", "--file-system", "--", folder] });
  if (exitCode !== 0)
    throw new SourceError(`The restored files could not be written to the disk: ${stderr.trim()}`);
}

function inSwapWords(place: Place, error: unknown): string {
  const { code, message, syscall } = toError(error);
  if (error instanceof SourceError || syscall === undefined) return message;
  const refused = `${pathOf(place, place.root)} was not replaced: `;
  // Both names are in one folder, so that they are on one file system.
  if (code === "EXDEV")
    return `${refused}its file system can't rename it (EXDEV), as that of a container can't rename a folder of its image. Restore into another folder, or move the site to a volume.`;
  return `${refused}${message}.${code === "EBUSY" ? " It is a mount point or otherwise held; restore into a folder that is not." : ""}`;
}
