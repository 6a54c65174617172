// Finds the account that owns a folder, provided that no other account could replace the folder.
import { lstat, readlink } from "node:fs/promises";
import { dirname, join } from "node:path";

type FoundEntry = { uid: number; gid: number; mode: number; isSymbolicLink(): boolean };
/** How to inspect a machine's folders without following links. */
export type Look = {
  lstat(path: string): Promise<FoundEntry>;
  readlink(path: string): Promise<string>;
};
const here: Look = { lstat: (path) => lstat(path), readlink: (path) => readlink(path) };

export type FolderOwner = { uid: number; gid: number } | { problem: string };

/** Limit of the kernel, see path_resolution(7). */
const maxLinks = 40;
const sticky = 0o1000;
const othersWrite = 0o022;

/**
 * @param path absolute; may also be a file
 * @returns the only account except root that owns the folder or a part of its path, or why there is none: a sentence without its
 * full stop
 * @throws the file system's error where a part of the path does not exist
 */
export async function findFolderOwner(path: string, look = here): Promise<FolderOwner> {
  const steps = await stepsTo(path, look);
  // The owner of / counts as root. In a user namespace that is not uid 0.
  const isRoots = ({ stat }: Step) => stat.uid === 0 || stat.uid === steps[0]?.stat.uid;
  const open = steps.find((step) => step.path !== path && othersReplace(step.stat));
  if (open !== undefined)
    return { problem: `whoever may write to ${open.path} could put something else in its place` };
  const owned = steps.filter((step) => !isRoots(step));
  const owner = owned.at(-1);
  if (owner === undefined) return { problem: "it belongs to root" };
  const other = owned.find(({ stat }) => stat.uid !== owner.stat.uid);
  if (other !== undefined)
    return {
      problem: `it belongs to user ${owner.stat.uid}, but user ${other.stat.uid}, who owns ${other.path}, could replace it`,
    };
  return { uid: owner.stat.uid, gid: owner.stat.gid };
}

/**
 * The owner of the folder itself does not matter, because the operator has chosen the folder.
 * @returns who, except root and the account itself, could replace the folder, in words; null = nobody
 * @throws the file system's error where a part of the path does not exist
 */
export async function findReplacer(path: string, uid: number, look = here): Promise<string | null> {
  const steps = await stepsTo(path, look);
  const mayReplace = ({ stat }: Step) =>
    (stat.uid !== 0 && stat.uid !== steps[0]?.stat.uid && stat.uid !== uid) || othersReplace(stat);
  const step = steps.find((one) => one.path !== path && mayReplace(one));
  if (step === undefined) return null;
  return othersReplace(step.stat)
    ? `whoever may write to ${step.path} could put something else in its place`
    : `user ${step.stat.uid}, who owns ${step.path}, could put something else in its place`;
}

type Step = { path: string; stat: FoundEntry };

/** Returns every folder and link on the path, in order. */
async function stepsTo(target: string, { lstat, readlink }: Look): Promise<Step[]> {
  let path = "/";
  const steps = [{ path, stat: await lstat(path) }];
  const names = target.split("/");
  for (let links = 0, name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === "..") path = dirname(path);
    if (name === "" || name === "." || name === "..") continue;
    const next = join(path, name);
    const stat = await lstat(next);
    steps.push({ path: next, stat });
    if (stat.isSymbolicLink()) {
      links += 1;
      if (links > maxLinks) throw new Error(`${target} leads through too many links`);
      const linked = await readlink(next);
      if (linked.startsWith("/")) path = "/";
      names.unshift(...linked.split("/"));
    } else path = next;
  }
  return steps;
}

function othersReplace(stat: FoundEntry): boolean {
  if (stat.isSymbolicLink()) return false; // the mode of a link has no meaning
  // In a sticky folder other accounts may add entries, but not replace those of others.
  if ((stat.mode & sticky) !== 0) return false;
  // A folder that its own account opens to its group is that account's choice.
  return stat.uid === 0 && (stat.mode & othersWrite) !== 0;
}
