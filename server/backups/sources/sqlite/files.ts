// Writes, replaces and removes files of a SQLite database, where SQLite cannot do so itself.
import { createWriteStream } from "node:fs";
import { access, chmod, chown, mkdir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { sizeInWords } from "../../formatting.ts";
import { SourceError, type FileOwner } from "../source.ts";
import { companionEnds } from "./header.ts";
import { toError } from "../../../to-error.ts";
import { syncFolder } from "../../../sync-folder.ts";

export const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** Removes a database with the files that SQLite, and a change of the page size, have beside it. */
export async function removeFile(file: string): Promise<void> {
  for (const end of ["", ...companionEnds, "-fitted", "-fitted-journal"])
    await rm(`${file}${end}`, { force: true });
}

/** @throws SourceError where there is not enough space for a copy of `path` */
export async function checkRoom(folder: string, neededBytes: number, path: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < neededBytes)
    throw new SourceError(
      `A copy of ${path} needs ${sizeInWords(neededBytes)} in ${folder}, where ${sizeInWords(bavail * bsize)} are left.`,
    );
}

/** @throws SourceError for an error of the disk, the error of `from`, or the signal's reason */
export async function writeFile(from: Readable, file: string, signal: AbortSignal): Promise<void> {
  try {
    await removeFile(file);
    await pipeline(from, createWriteStream(file, { mode: 0o600, flush: true }), { signal });
  } catch (error) {
    signal.throwIfAborted();
    // Node.js sets these on errors of the file system.
    const { code = "", path, syscall } = toError(error);
    if (path?.startsWith(file) !== true && syscall !== "write" && syscall !== "fsync") throw error;
    throw new SourceError(`${file} could not be written: ${hints[code] ?? code}`, { cause: error });
  } finally {
    from.destroy();
  }
}

const hints: Record<string, string> = {
  ENOSPC: "its disk is full.",
  EDQUOT: "the account that works on it has used up its quota.",
  EACCES: "the account that works on it may not write to its folder.",
  EPERM: "the account that works on it may not write to its folder.",
  EROFS: "its disk is mounted read-only.",
  ENOENT: "its folder is not there.",
  ENOTDIR: "its folder is not there.",
};

/**
 * Renames a file to a path without a database, or with one that SQLite cannot open and so cannot replace in a transaction. The file
 * gets the mode and owner of the file that it replaces or, where there is none, of the backed-up file; without either, the folder's
 * owner, because the application's account owns the folder and could not use a file of root.
 * @returns whether the file has that owner; false where the account may not change it
 */
export async function putInPlace(
  file: string,
  path: string,
  known: FileOwner | null,
): Promise<boolean> {
  const owner = (await stat(path).catch(() => null)) ?? known;
  const { uid, gid } = owner ?? (await stat(dirname(path)));
  const isGiven = await give(file, uid, gid);
  await chmod(file, owner === null ? 0o640 : owner.mode & 0o777);
  // Old logs must never be applied to the new file. They are removed before the rename: otherwise a crash between the two would leave
  // the new file with a journal of another database.
  for (const database of [file, path])
    for (const end of companionEnds) await rm(`${database}${end}`, { force: true });
  await rename(file, path);
  await syncFolder(dirname(path));
  return isGiven;
}

async function give(file: string, uid: number, gid: number): Promise<boolean> {
  try {
    await chown(file, uid, gid);
    return true;
  } catch {
    // The account may set a group that it is a member of.
    await chown(file, (await stat(file)).uid, gid).catch(() => undefined);
    return false;
  }
}
