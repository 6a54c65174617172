// Replaces the content of a file atomically, keeping its mode and owner.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "../sync-folder.ts";

/** Returns why a file cannot be replaced, as an error code; null = it can. Links are followed. */
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
 * @param isStill checked at the last moment: whether the file is unchanged
 * @returns false where it has changed; nothing was written then
 * @throws file system errors; nothing was written then
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

export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);
