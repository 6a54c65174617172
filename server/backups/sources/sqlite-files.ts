// The files around a SQLite database: what is received, what is put in place where SQLite cannot do it, what is removed.
import { createWriteStream } from "node:fs";
import { access, chmod, chown, mkdir, open, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { sizeInWords } from "./size-in-words.ts";
import { SourceError } from "./source.ts";

/** What SQLite keeps beside a database; one that was left by another content must never be applied to a new file. */
const companions = ["-journal", "-wal", "-shm"];

export const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** With what SQLite, and a change of its page size, keep beside it. */
export async function removeFile(file: string): Promise<void> {
  for (const end of ["", ...companions, "-fitted", "-fitted-journal"])
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
    const { code = "", path, syscall } = error as NodeJS.ErrnoException;
    if (path?.startsWith(file) !== true && syscall !== "write" && syscall !== "fsync") throw error;
    throw new SourceError(`${file} could not be written: ${hints[code] ?? code}`, { cause: error });
  } finally {
    from.destroy();
  }
}

const hints: Record<string, string> = {
  ENOSPC: "there is no room left on its disk.",
  EDQUOT: "the account that runs the service has used up its quota.",
  EACCES: "the account that runs the service may not write to its folder.",
  EPERM: "the account that runs the service may not write to its folder.",
  EROFS: "its disk is mounted read-only.",
  ENOENT: "its folder is not there.",
  ENOTDIR: "its folder is not there.",
};

/**
 * Puts a file where no database is, or none that SQLite can open: over such a one it has no transaction.
 * With the mode and owner of what it replaces; without such, the folder's owner, since the application's account owns
 * the folder and root must not leave it a file that it cannot use.
 */
export async function putInPlace(file: string, path: string): Promise<void> {
  const replaced = await stat(path).catch(() => null);
  const { uid, gid } = replaced ?? (await stat(dirname(path)));
  await chown(file, uid, gid).catch(() => undefined);
  await chmod(file, replaced === null ? 0o640 : replaced.mode & 0o777);
  // Before the rename: a crash between the two would else leave the new file with a journal that is not its own.
  for (const database of [file, path])
    for (const end of companions) await rm(`${database}${end}`, { force: true });
  await rename(file, path);
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
