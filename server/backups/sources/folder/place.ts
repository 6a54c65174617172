// Resolves where a folder is and what a restore creates beside it, checks whether it can be swapped, and removes folders.
import { constants } from "node:fs";
import { access, lstat, readFile, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { accountName, ownAccount, type Account } from "../../../hosts/account.ts";
import type { LocalHost } from "../../../hosts/host.ts";
import { defineTask, type Task } from "../../../hosts/task.ts";
import { openTrustedParent } from "../../../hosts/trusted-parent.ts";
import { followLinks } from "../follow-links.ts";
import { folderTasks } from "./tasks.ts";
import { toError } from "../../../to-error.ts";

/** Serializable, because it is sent to a process of the site's account. */
export type Place = {
  /** The real path of the parent folder. */
  parent: string;
  /** The parent folder's path for file operations: the same, or that of a handle that is held open on it. */
  reach: string;
  /** The account that renames there. */
  actor: Account;
  /** Names in it: the folder itself… */
  root: string;
  /** …what is being extracted… */
  fresh: string;
  /** …extracted completely and on the disk: only a folder of this name may become the root… */
  ready: string;
  /** …and what was the root. */
  old: string;
  /** Where the service itself renames: the required owner of the folder, and of a new one; null = the account renames. */
  owner: Account | null;
};

/** A place, and how to perform tasks as the account that may rename in the parent folder. */
export type OpenPlace = {
  place: Place;
  /** @param signal a time limit, because the account could stop its own processes */
  perform<Args, Result>(task: Task<Args, Result>, args: Args, signal: AbortSignal): Promise<Result>;
  close(): Promise<void>;
};

/** Paths of an entry of a place: for file operations, and for people. */
export const reachOf = ({ reach }: Place, name: string): string => join(reach, name);
export const pathOf = ({ parent }: Place, name: string): string => join(parent, name);

/** @param id of the backup that is restored */
export function namesBeside(name: string, id: number) {
  const named = (state: string) => `.${name.slice(0, keptCharacters)}.quarterdeck-${state}-${id}`;
  return { root: name, fresh: named("new"), ready: named("ready"), old: named("old") };
}

/** Leaves room for our own part in a name of 255 bytes, even where each character has four. */
const keptCharacters = 50;

/**
 * Opens the place of a folder. Where only root may change the parent folder, the service renames there itself, through a handle.
 * Elsewhere the site's account does, so that the kernel checks its permissions.
 */
export async function openPlace(
  host: LocalHost,
  root: string,
  id: number,
  signal: AbortSignal,
): Promise<OpenPlace> {
  const { account, isOwn } = host;
  const beside = (name: string) => namesBeside(name, id);
  const trusted = isOwn ? null : await openTrusted(root);
  if (trusted !== null) {
    const { path, held, name, close } = trusted;
    const service = host.as(ownAccount());
    return {
      place: {
        parent: path,
        reach: held,
        actor: service.account,
        owner: account,
        ...beside(name),
      },
      perform: (task, args, until) => service.perform(task, args, { signal: until }),
      close,
    };
  }
  const real = await host.perform(findRealRoot, root, { signal });
  const parent = dirname(real);
  return {
    place: { parent, reach: parent, actor: account, owner: null, ...beside(basename(real)) },
    perform: (task, args, until) => host.perform(task, args, { signal: until }),
    close: async () => undefined,
  };
}

/** Returns null for a missing folder, which the next step reports. */
const openTrusted = (root: string) =>
  openTrustedParent(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });

/** Works also between the two steps of a swap, when the folder does not exist. */
export const findRealRoot = defineTask(folderTasks, "findRealRoot", followLinks);

export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (toError(error).code === "ENOENT") return false;
    throw error;
  }
}

/** @returns why a restore could not swap a folder in; null = it could */
export async function whyNotSwappable(place: Place): Promise<string | null> {
  const { parent, actor, owner } = place;
  const root = pathOf(place, place.root);
  if (place.root === "") return `${root} is the whole file system`;
  try {
    await access(place.reach, constants.W_OK | constants.X_OK);
  } catch (error) {
    return toError(error).code === "ENOENT"
      ? `${parent} is not there; make that folder first`
      : `${accountName(actor)} may not write in ${parent}, where the new folder is swapped in`;
  }
  const found = owner === null ? null : await lstat(reachOf(place, place.root)).catch(() => null);
  if (owner !== null && found !== null && found.uid !== owner.uid)
    return `${root} belongs to user ${found.uid}, and a restore as ${accountName(owner)} would give it away; give it to ${accountName(owner)}, or name its user in the inventory`;
  const [mounted] = await mountsWithin(root);
  if (mounted === root)
    return `${root} is a mount point and cannot be swapped; back up a folder inside it`;
  // A swap would move the mount with the old folder, and removing that would delete what is mounted.
  if (mounted !== undefined)
    return `${mounted} is mounted inside ${root}; unmount it for the time of the restore`;
  return null;
}

export const tellWhyNotSwappable = defineTask(folderTasks, "tellWhyNotSwappable", whyNotSwappable);

/** Lists mount points at or below a folder, the outermost first; empty on systems other than Linux. */
export async function mountsWithin(folder: string): Promise<string[]> {
  return mountsIn(await readFile("/proc/self/mountinfo", "latin1").catch(() => ""), folder);
}

/** @param table as /proc/self/mountinfo has it, see proc(5) */
export function mountsIn(table: string, folder: string): string[] {
  const wanted = Buffer.from(folder).toString("latin1");
  return table
    .split("\n")
    .map((line) => unescapeOctal(line.split(" ")[4] ?? ""))
    .filter((point) => point === wanted || point.startsWith(`${wanted}/`))
    .sort((one, other) => one.length - other.length)
    .map((point) => Buffer.from(point, "latin1").toString());
}

const unescapeOctal = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );

const removalPausesMs = [0, 100, 500];

/**
 * Removes a folder with its content, whatever its modes. By `rm`, because paths may be too long for Node, and because it works with
 * handles of folders.
 * @param signal a time limit, because the account could stop its own processes
 * @param removeTop removes the empty folder where the account itself may not
 * @returns why the folder could not be removed, or null
 */
export async function removeFolder(
  host: LocalHost,
  folder: string,
  signal: AbortSignal,
  removeTop: () => Promise<boolean> = async () => false,
): Promise<string | null> {
  try {
    return await removeAll(host, folder, signal, removeTop);
  } catch (error) {
    if (signal.aborted) return "it took too long";
    throw error;
  }
}

async function removeAll(
  host: LocalHost,
  folder: string,
  signal: AbortSignal,
  removeTop: () => Promise<boolean>,
): Promise<string | null> {
  if (!(await host.perform(isFolderThere, folder, { signal }))) return null;
  const [mounted] = await mountsWithin(folder);
  if (mounted !== undefined) return `${mounted} is mounted in it`;
  let reason = "";
  // Repeated, because a tar that outlived a killed service may still write there.
  for (const pauseMs of removalPausesMs) {
    await sleep(pauseMs);
    const { exitCode, stderr } = await host.run({
      argv: ["rm", "-rf", "--one-file-system", "--", folder],
      signal,
    });
    if (exitCode === 0 || (await removeTop())) return null;
    reason = stderr.trim().split("\n")[0] ?? "";
    await openUp(host, folder, signal);
  }
  return reason;
}

const isFolderThere = defineTask(folderTasks, "isFolderThere", isThere);

/** @returns whether the folder no longer exists */
export const removeEmptyFolder = defineTask(folderTasks, "removeEmptyFolder", (path: string) =>
  rmdir(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code === "ENOENT",
  ),
);

/** Returns a signal with the time limit of cleaning up after a restore or drill. */
export const tidying = (): AbortSignal => AbortSignal.timeout(10 * 60_000);

/** Gives an account access to its folders that were archived as closed to their owner. */
export async function openUp(host: LocalHost, folder: string, signal: AbortSignal): Promise<void> {
  await host.run({ argv: ["chmod", "-R", "u+rwX", "--", folder], signal });
}

/** Shell function: whether an entry exists, including a broken link. */
export const there = 'there() { [ -e "$1" ] || [ -L "$1" ]; }';
