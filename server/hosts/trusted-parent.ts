// The folder above a site, held open, where nobody but root can change the way to it.
import { constants } from "node:fs";
import { lstat, open, readlink, type FileHandle } from "node:fs/promises";
import { join, resolve } from "node:path";

type TrustedParent = {
  /** Its real path, for people and for the site's account. */
  path: string;
  /** The last part of the way, which need not be there. */
  name: string;
  /** The folder itself, whatever its path leads to by now; good until `close`. */
  held: string;
  close(): Promise<void>;
};

/** As many as the kernel follows, see path_resolution(7). */
const maxLinks = 40;
const othersWrite = 0o022;
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const heldPath = (handle: FileHandle): string => `/proc/self/fd/${handle.fd}`;

/**
 * Goes the way one step at a time, from handle to handle, so that nothing can be put in between.
 * @param path absolute
 * @returns null where somebody but root owns or may write to a folder on the way, or owns a link on it
 * @throws what the file system says of a folder on the way that is not there
 */
export async function openTrustedParent(path: string): Promise<TrustedParent | null> {
  let way = resolve(path);
  for (let links = 0; links <= maxLinks; links += 1) {
    const found = await walk(way);
    if (found === null || typeof found !== "string") return found;
    way = found;
  }
  return null;
}

/** @returns the parent, the way that a link of root's leads to instead, or null */
async function walk(way: string): Promise<TrustedParent | string | null> {
  const names = way.split("/").filter((name) => name !== "");
  if (names.length === 0) return null;
  let folder = await open("/", folderFlags);
  let path = "/";
  let isKept = false;
  // Who owns / owns the machine. In a user namespace that is not 0.
  const { uid: rootUid } = await folder.stat();
  const isRoots = ({ uid }: { uid: number }) => uid === 0 || uid === rootUid;
  try {
    for (const [index, name] of names.entries()) {
      const isLast = index === names.length - 1;
      const here = await folder.stat();
      if (!isRoots(here) || (here.mode & othersWrite) !== 0) return null;
      const entry = join(heldPath(folder), name);
      const found = await lstat(entry).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT" && isLast) return null;
        throw error;
      });
      if (found?.isSymbolicLink() === true)
        return isRoots(found)
          ? resolve(path, await readlink(entry), ...names.slice(index + 1))
          : null;
      if (isLast) {
        const parent = folder;
        isKept = true;
        return { path, name, held: heldPath(parent), close: () => parent.close() };
      }
      const next = await open(entry, folderFlags);
      await folder.close();
      folder = next;
      path = join(path, name);
    }
    return null;
  } finally {
    if (!isKept) await folder.close();
  }
}
