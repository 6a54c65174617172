// Puts a text in place of a file, whole or not at all, with the rights and the owner that the file has.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Why a file cannot be replaced, as the system says; null = it can. A link leads to the file that is meant. */
export async function whyNotReplaceable(path: string): Promise<string | null> {
  try {
    const file = await realpath(path);
    await access(file, constants.W_OK);
    await access(dirname(file), constants.W_OK);
    return null;
  } catch (error) {
    return codeOf(error);
  }
}

/**
 * @param isStill asked at the last moment whether the file is the one that is meant
 * @returns false where it is not; nothing has changed then
 * @throws what the file system says; nothing has changed then
 */
export async function replaceFile(
  path: string,
  text: string,
  isStill: () => Promise<boolean>,
): Promise<boolean> {
  const file = await realpath(path);
  const before = await stat(file);
  const beside = join(
    dirname(file),
    `.${basename(file)}.${randomBytes(6).toString("hex")}.quarterdeck`,
  );
  const handle = await open(beside, "wx", 0o600);
  try {
    try {
      await handle.writeFile(text);
      const made = await handle.stat();
      if (made.uid !== before.uid || made.gid !== before.gid)
        await handle.chown(before.uid, before.gid);
      await handle.chmod(before.mode & 0o7777);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (!(await isStill())) {
      await rm(beside);
      return false;
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
  return true;
}

/** What is in a folder is on the disk when this resolves. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);
