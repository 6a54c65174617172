// The steps that exchange the content of a folder in place, performed as the site's account. What a kill leaves:
//   new              → being extracted                          settle: removed, the folder is as it was
//   ready            → complete and on the disk                 settle: removed, the folder is as it was
//   ready + leaving  → the old entries are being moved out      settle: they are moved back
//   ready + old      → the restored entries are being moved in  settle: the rest is moved in
//   old              → done                                     settle: removed
import { constants } from "node:fs";
import { access, chmod, lstat, mkdir, readdir, rename, rmdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { defineTask } from "../../../hosts/task.ts";
import { isThere, mountsWithin } from "./place.ts";
import { makeFresh, type Settled } from "./swap-steps.ts";
import { folderTasks } from "./tasks.ts";
import { pathBelow } from "./walk.ts";
import { SourceError } from "../source.ts";
import { toError } from "../../../to-error.ts";
import { syncFolder } from "../../../sync-folder.ts";

/** Serializable: the folder, and the id of the restored backup. */
export type Exchange = { root: string; id: number };

export const namesOf = ({ id }: Exchange) => ({
  fresh: `.quarterdeck-new-${id}`,
  ready: `.quarterdeck-ready-${id}`,
  leaving: `.quarterdeck-leaving-${id}`,
  old: `.quarterdeck-old-${id}`,
});

const pathsOf = (exchange: Exchange) => {
  const { fresh, ready, leaving, old } = namesOf(exchange);
  const at = (name: string) => join(exchange.root, name);
  return { fresh: at(fresh), ready: at(ready), leaving: at(leaving), old: at(old) };
};

/** @returns why the content cannot be exchanged; null = it can */
async function whyNotExchangeable(root: string): Promise<string | null> {
  try {
    await access(root, constants.W_OK | constants.X_OK);
  } catch (error) {
    return `the site's account may not write in ${root} (${toError(error).code}), whose content is exchanged in place`;
  }
  const inside = (await mountsWithin(root)).find((point) => point !== root);
  return inside === undefined
    ? null
    : `${inside} is mounted inside ${root}; unmount it for the time of the restore`;
}

export const tellWhyNotExchangeable = defineTask(
  folderTasks,
  "tellWhyNotExchangeable",
  whyNotExchangeable,
);

/** Whether an earlier restore left something that could not be removed. */
export const isExchangeLeft = defineTask(
  folderTasks,
  "isExchangeLeft",
  async (exchange: Exchange): Promise<boolean> => {
    for (const path of Object.values(pathsOf(exchange))) if (await isThere(path)) return true;
    return false;
  },
);

/** Creates the empty folder to extract into. @throws SourceError */
export const beginExchange = defineTask(
  folderTasks,
  "beginExchange",
  async (exchange: Exchange): Promise<void> => {
    const reason = await whyNotExchangeable(exchange.root);
    if (reason !== null) throw new SourceError(`Nothing was changed: ${reason}.`);
    await makeFresh(pathsOf(exchange).fresh);
  },
);

export const commitExchange = defineTask(
  folderTasks,
  "commitExchange",
  async (exchange: Exchange): Promise<void> => {
    const { root } = exchange;
    const { fresh, ready, leaving, old } = pathsOf(exchange);
    await rename(fresh, ready);
    await syncFolder(root);
    await mkdir(leaving, { mode: 0o700 });
    const own = new Set(Object.values(namesOf(exchange)));
    for (const name of await namesIn(root))
      if (!own.has(name.toString())) await move(pathBelow(root, name), pathBelow(leaving, name));
    await syncFolder(leaving);
    await rename(leaving, old);
    await syncFolder(root);
    await moveIn(exchange);
  },
);

/** Completes or undoes an exchange that was killed. Returns the resulting state; null = nothing of an exchange is there. */
export const settleExchange = defineTask(
  folderTasks,
  "settleExchange",
  async (exchange: Exchange): Promise<{ state: Settled; left: string[] } | null> => {
    const { root } = exchange;
    const { fresh, ready, leaving, old } = namesOf(exchange);
    const paths = pathsOf(exchange);
    const there: string[] = [];
    for (const name of [fresh, ready, leaving, old])
      if (await isThere(join(root, name))) there.push(name);
    if (there.length === 0) return null;
    if (there.includes(old)) {
      if (there.includes(ready)) await moveIn(exchange);
      return { state: "restored", left: [fresh, old] };
    }
    if (there.includes(leaving)) {
      // An entry that was created meanwhile under an old name is moved aside.
      await mkdir(paths.ready, { recursive: true, mode: 0o700 });
      await moveAll(paths.leaving, root, paths.ready);
      await rmdir(paths.leaving);
      await syncFolder(root);
    }
    return { state: "as it was", left: [fresh, ready] };
  },
);

/** Moves the restored entries into the folder. `ready` stays, empty, with the attributes for the folder. */
async function moveIn(exchange: Exchange): Promise<void> {
  const { ready, old } = pathsOf(exchange);
  await moveAll(ready, exchange.root, old);
  await syncFolder(exchange.root);
}

/** @param aside folder for existing entries of the same name */
async function moveAll(from: string, to: string, aside: string): Promise<void> {
  // Nothing can be moved out of a folder that its owner may not write to.
  const { mode, atimeMs, mtimeMs } = await lstat(from);
  if ((mode & 0o700) !== 0o700) await chmod(from, mode | 0o700);
  for (const name of await namesIn(from)) {
    const target = pathBelow(to, name);
    if (await isThereAt(target)) await move(target, await freeName(aside, name));
    await move(pathBelow(from, name), target);
  }
  if ((mode & 0o700) !== 0o700) await chmod(from, mode);
  await utimes(from, atimeMs / 1000, mtimeMs / 1000);
}

async function freeName(folder: string, name: Buffer): Promise<Buffer> {
  for (let number = 0; ; number += 1) {
    const ending = Buffer.from(`~${number}`);
    const tried = pathBelow(folder, Buffer.concat([name.subarray(0, 240), ending]));
    if (!(await isThereAt(tried))) return tried;
  }
}

const isThereAt = (path: Buffer): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Moves an entry. A folder has an entry for its parent, so that one that its owner may not write to cannot be moved as it is. */
async function move(from: Buffer, to: Buffer): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    const { mode } = await lstat(from);
    if (toError(error).code !== "EACCES" || (mode & 0o200) !== 0) throw error;
    await chmod(from, mode | 0o200);
    await rename(from, to);
    await chmod(to, mode & 0o7777);
  }
}

const namesIn = (folder: string): Promise<Buffer[]> => readdir(folder, { encoding: "buffer" });

/** Attributes of the folder itself; times in seconds since 1970. */
type Attributes = { mode: number; accessed: number; modified: number };

/** Removes the emptied folder of the restored entries. @returns the attributes for the folder itself, or null */
export const takeAttributes = defineTask(
  folderTasks,
  "takeAttributes",
  async (exchange: Exchange): Promise<Attributes | null> => {
    const { ready } = pathsOf(exchange);
    if (!(await isThere(ready))) return null;
    const { mode, atimeMs, mtimeMs } = await lstat(ready);
    // The owner has to write to the folder until the cleanup is done.
    await chmod(exchange.root, (mode & 0o7777) | 0o700);
    await rmdir(ready);
    return { mode: mode & 0o7777, accessed: atimeMs / 1000, modified: mtimeMs / 1000 };
  },
);

/** Sets the folder's attributes. Comes last, because moving or removing entries changes its times. */
export const applyAttributes = defineTask(
  folderTasks,
  "applyAttributes",
  async ({ root, ...its }: { root: string } & Attributes): Promise<void> => {
    await utimes(root, its.accessed, its.modified);
    await chmod(root, its.mode);
  },
);
