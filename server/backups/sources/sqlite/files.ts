// The files around a SQLite database: what is received, what is put in place where SQLite cannot do it, what is removed.
import { createWriteStream } from "node:fs";
import { access, chmod, chown, mkdir, open, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { sizeInWords } from "../../formatting.ts";
import { SourceError, type FileOwner } from "../source.ts";
import { companionEnds } from "./header.ts";
import { toError } from "../../../to-error.ts";

export const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** With what SQLite, and a change of its page size, keep beside it. */
export async function removeFile(file: string): Promise<void> {
  for (const end of ["", ...companionEnds, "-fitted", "-fitted-journal"])
    await rm(`${file}${end}`, { force: true });
}

/** @throws SourceError when there is not enough room for a copy of `path` */
export async function checkRoom(folder: string, neededBytes: number, path: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < neededBytes)
    throw new SourceError(
      `A copy of ${path} needs ${sizeInWords(neededBytes)} in ${folder}, where ${sizeInWords(bavail * bsize)} are left.`,
    );
}

/** @throws SourceError for what the disk says, `from`'s own error as it is, or the signal's reason */
export async function writeFile(from: Readable, file: string, signal: AbortSignal): Promise<void> {
  try {
    await removeFile(file);
    await pipeline(from, createWriteStream(file, { mode: 0o600, flush: true }), { signal });
  } catch (error) {
    signal.throwIfAborted();
    // Node.js puts these on what the file system says.
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
 * Puts a file where no database is, or none that SQLite can open: over such a one it has no transaction.
 * With the mode and owner of what it replaces, or where nothing is, of what was backed up; without either, the folder's
 * owner, since the application's account owns the folder and root must not leave it a file that it cannot use.
 * @returns whether the file has that owner; an account that may not give it away keeps it
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
  // Those of another content must never be applied to a new file.
  // Before the rename: a crash between the two would else leave the new file with a journal that is not its own.
  for (const database of [file, path])
    for (const end of companionEnds) await rm(`${database}${end}`, { force: true });
  await rename(file, path);
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
  return isGiven;
}

async function give(file: string, uid: number, gid: number): Promise<boolean> {
  try {
    await chown(file, uid, gid);
    return true;
  } catch {
    // A group that the account is a member of, it may set all the same.
    await chown(file, (await stat(file)).uid, gid).catch(() => undefined);
    return false;
  }
}
