// Reads and writes files of the service that another account must not be able to swap: written atomically, and never read through
// a link.
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { ownAccount } from "./account.ts";

type FileAccess = { uid: number; gid: number; mode: number };

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** Writes a file atomically and durably. It is never readable beyond what `access` allows. */
export async function writeOwnFile(path: string, text: string, access: FileAccess): Promise<void> {
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { force: true });
  const file = await open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await file.writeFile(text);
    const { uid, gid } = await file.stat();
    if (uid !== access.uid || gid !== access.gid) await file.chown(access.uid, access.gid);
    await file.chmod(access.mode);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
  const folder = await open(dirname(path), O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Returns the text; null when the file is missing, belongs to neither `owner` nor the service, or is accessible to others. */
export async function readOwnFile(path: string, owner: { uid: number }): Promise<string | null> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW).catch(() => null);
  if (!file) return null;
  try {
    const found = await file.stat();
    const isOurs = found.uid === owner.uid || found.uid === ownAccount().uid;
    const isClosed = (found.mode & 0o077) === 0;
    return found.isFile() && isOurs && isClosed ? await file.readFile("utf8") : null;
  } finally {
    await file.close();
  }
}
