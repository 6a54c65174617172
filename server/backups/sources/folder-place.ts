// Where a folder lies, what stands beside it during a restore, and whether it can be swapped there at all.
import { constants } from "node:fs";
import { access, lstat, open, readFile, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Host } from "../../hosts/host.ts";

export type Place = {
  /** The real folder: where `root` is a link, the link stays and what it points to is replaced. */
  root: string;
  parent: string;
  /** Being extracted. */
  fresh: string;
  /** Extracted whole and on the disk: only what bears this name may become the root. */
  ready: string;
  /** What was the root. */
  old: string;
};

const linkLimit = 40;
/** Leaves room for our own words in a name of 255 bytes, also where each character takes four. */
const keptCharacters = 50;

export async function findPlace(root: string, id: number): Promise<Place> {
  const real = await realRoot(root);
  const parent = dirname(real);
  const beside = (state: string) =>
    join(parent, `.${basename(real).slice(0, keptCharacters)}.quarterdeck-${state}-${id}`);
  return { root: real, parent, fresh: beside("new"), ready: beside("ready"), old: beside("old") };
}

/** Like `realpath`, but also where the last part is not there (yet, or between the two steps of a swap). */
export async function realRoot(root: string): Promise<string> {
  let path = resolve(root);
  for (let links = 0; links < linkLimit; links += 1) {
    const parent = await realpath(dirname(path)).catch(() => dirname(path));
    path = join(parent, basename(path));
    const target = await readlink(path).catch(() => null);
    if (target === null) return path;
    path = resolve(parent, target);
  }
  return path;
}

export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** @returns why a restore could not swap a folder in at `root`, in words, or null */
export async function whyNotSwappable(root: string): Promise<string | null> {
  const parent = dirname(root);
  if (parent === root) return `${root} is the whole file system`;
  try {
    await access(parent, constants.W_OK | constants.X_OK);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT"
      ? `${parent} is not there; make that folder first`
      : `the service's user may not write in ${parent}, where the new folder is swapped in`;
  }
  const [mounted] = await mountsWithin(root);
  if (mounted === root)
    return `${root} is a mount point and cannot be swapped; back up a folder inside it`;
  // A swap would move the mount aside, and clearing away the old folder would empty what is mounted.
  if (mounted !== undefined)
    return `${mounted} is mounted inside ${root}; unmount it for the time of the restore`;
  return null;
}

/** Mount points at or below a folder, the outermost first. Empty where the system does not tell (other than Linux). */
export async function mountsWithin(folder: string): Promise<string[]> {
  const table = await readFile("/proc/self/mountinfo", "latin1").catch(() => "");
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
 * Removes a folder with all that is in it, whatever its modes. By `rm`, because paths can be too long for node.
 * @returns why it could not, or null
 */
export async function removeFolder(host: Host, folder: string): Promise<string | null> {
  if (!(await isThere(folder))) return null;
  const [mounted] = await mountsWithin(folder);
  if (mounted !== undefined) return `${mounted} is mounted in it`;
  let reason = "";
  // More than once: a tar that outlived a killed service may still be writing there.
  for (const pauseMs of removalPausesMs) {
    await sleep(pauseMs);
    const { exitCode, stderr } = await host.run({
      argv: ["rm", "-rf", "--one-file-system", "--", folder],
    });
    if (exitCode === 0) return null;
    reason = stderr.trim().split("\n")[0] ?? "";
    await openUp(host, folder);
  }
  return reason;
}

/** Lets an ordinary user into folders that were archived as closed to their owner. */
export async function openUp(host: Host, folder: string): Promise<void> {
  await host.run({ argv: ["chmod", "-R", "u+rwX", "--", folder] });
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
