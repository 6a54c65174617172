// Opens the parent folder of a site, after checking that only root can change its path.
import { constants } from "node:fs";
import { lstat, open, readlink, type FileHandle } from "node:fs/promises";
import { join, resolve } from "node:path";

type TrustedParent = {
  /** Real path of the folder, for messages and for the site's account. */
  path: string;
  /** The last component of the path, which need not exist. */
  name: string;
  /** A path to the open folder itself, even if its own path is changed; valid until `close`. */
  held: string;
  close(): Promise<void>;
};

/** Limit of the kernel, see path_resolution(7). */
const maxLinks = 40;
const othersWrite = 0o022;
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const heldPath = (handle: FileHandle): string => `/proc/self/fd/${handle.fd}`;

/**
 * Walks the path one step at a time, from handle to handle, so that no component can be swapped in between.
 * @param path absolute
 * @returns null where an account except root owns or may write to a folder on the path, or owns a link on it
 * @throws the file system's error where a folder on the path does not exist
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

/** @returns the parent; the path to follow instead where root's link leads elsewhere; or null */
async function walk(way: string): Promise<TrustedParent | string | null> {
  const names = way.split("/").filter((name) => name !== "");
  if (names.length === 0) return null;
  let folder = await open("/", folderFlags);
  let path = "/";
  let isKept = false;
  // The owner of / counts as root. In a user namespace that is not uid 0.
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
