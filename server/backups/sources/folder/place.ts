// Where a folder lies, what stands beside it during a restore, and whether it can be swapped there at all.
import { constants } from "node:fs";
import { access, lstat, open, readFile, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { accountName, ownAccount, type Account } from "../../../hosts/account.ts";
import type { LocalHost } from "../../../hosts/host.ts";
import { defineTask, type Task } from "../../../hosts/task.ts";
import { openTrustedParent } from "../../../hosts/trusted-parent.ts";
import { followLinks } from "../follow-links.ts";
import { folderTasks } from "./tasks.ts";
import { toError } from "../../../to-error.ts";

/** Plain values, since they cross over to a process that is the site's account. */
export type Place = {
  /** The real path of the folder above. */
  parent: string;
  /** How that folder is reached: by its path, or by a handle that is held open on it. */
  reach: string;
  /** Who renames there. */
  actor: Account;
  /** Names in it: the folder itself… */
  root: string;
  /** …what is being extracted… */
  fresh: string;
  /** …extracted whole and on the disk: only what bears this name may become the root… */
  ready: string;
  /** …and what was the root. */
  old: string;
  /** Whose the folder must be where the service itself renames, and to whom a new one is given; null = the account renames. */
  owner: Account | null;
};

/** A place, and whoever may rename in the folder above. */
export type OpenPlace = {
  place: Place;
  /** @param signal a bound: the account may stop what works as it */
  perform<Args, Result>(task: Task<Args, Result>, args: Args, signal: AbortSignal): Promise<Result>;
  close(): Promise<void>;
};

/** The part of a place as it is reached, and as people read it. */
export const reachOf = ({ reach }: Place, name: string): string => join(reach, name);
export const pathOf = ({ parent }: Place, name: string): string => join(parent, name);

/** @param id of the backup that is restored */
export function namesBeside(name: string, id: number) {
  const named = (state: string) => `.${name.slice(0, keptCharacters)}.quarterdeck-${state}-${id}`;
  return { root: name, fresh: named("new"), ready: named("ready"), old: named("old") };
}

/** Leaves room for our own words in a name of 255 bytes, also where each character takes four. */
const keptCharacters = 50;

/**
 * Where root alone may change the folder above, the service renames there itself, through a handle. Anywhere else the
 * site's account does, and the kernel says whether it may.
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

/** What is missing is reported by whoever looks at it next. */
const openTrusted = (root: string) =>
  openTrustedParent(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });

/** Also between the two steps of a swap, when nothing is there. */
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

/** @returns why a restore could not swap a folder in, in words, or null */
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
  // A swap would move the mount aside, and clearing away the old folder would empty what is mounted.
  if (mounted !== undefined)
    return `${mounted} is mounted inside ${root}; unmount it for the time of the restore`;
  return null;
}

export const tellWhyNotSwappable = defineTask(folderTasks, "tellWhyNotSwappable", whyNotSwappable);

/** Mount points at or below a folder, the outermost first. Empty where the system does not tell (other than Linux). */
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
 * Removes a folder with all that is in it, whatever its modes. By `rm`, because paths can be too long for node, and
 * because it goes from handle to handle.
 * @param signal a bound: the account may stop what works as it
 * @param removeTop removes the empty folder where the account itself may not
 * @returns why it could not, or null
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
  // More than once: a tar that outlived a killed service may still be writing there.
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

/** @returns whether it is gone */
export const removeEmptyFolder = defineTask(folderTasks, "removeEmptyFolder", (path: string) =>
  rmdir(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code === "ENOENT",
  ),
);

/** For how long things are put in order after a restore or drill that was told to end. */
export const tidying = (): AbortSignal => AbortSignal.timeout(10 * 60_000);

/** Lets an account into folders that were archived as closed to their owner. */
export async function openUp(host: LocalHost, folder: string, signal: AbortSignal): Promise<void> {
  await host.run({ argv: ["chmod", "-R", "u+rwX", "--", folder], signal });
}

/** Makes renames in a folder last through a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** For a shell: whether an entry is there, also a link that leads nowhere. */
export const there = 'there() { [ -e "$1" ] || [ -L "$1" ]; }';
