// Files of the service that another account must not be able to swap: written whole under another name, read only as what they are.
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { ownAccount } from "./account.ts";

type FileAccess = { uid: number; gid: number; mode: number };

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** Whole or not at all, also after a power cut, and never readable for more than `access` allows. */
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

/** Its text, or null when it is missing, belongs to somebody else than `owner` and the service, or was readable for others. */
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
