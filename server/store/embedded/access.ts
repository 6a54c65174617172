// Checks which folders an account can enter, and creates folders that only one account can.
import { chmod, lchown, lstat, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ownAccount } from "./account.ts";
import type { Account } from "./command.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

/**
 * Returns the topmost folder on the path to `folder` (a real path), inclusive, that the account cannot enter; null = none. Only
 * checks the mode bits, because access lists could only allow more. Supplementary groups do not count, because a process loses
 * them when it is started with another uid.
 */
export async function closedFolder(folder: string, account: Account): Promise<string | null> {
  if (account.isOwn) return null;
  const parent = dirname(folder);
  if (parent !== folder) {
    const closed = await closedFolder(parent, account);
    if (closed !== null) return closed;
  }
  const { mode, uid, gid } = await stat(folder);
  const enter = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  return (mode & enter) === 0 ? folder : null;
}

/**
 * Creates a folder with mode 0700 for the account, or checks that it is exactly that. In a shared folder such as /tmp another
 * user may have created the folder first, or a symbolic link: then nothing may be stored in it.
 * @throws {EmbeddedPostgresError} it is a link, not a folder, or belongs to another user
 */
export async function makePrivateFolder(
  folder: string,
  account: Pick<Account, "uid" | "gid">,
): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const found = await lstat(folder);
  if (!found.isDirectory()) {
    throw new EmbeddedPostgresError(`${folder} is not a folder. Delete it.`);
  }
  if (found.uid !== account.uid && found.uid !== ownAccount().uid) {
    throw new EmbeddedPostgresError(
      `${folder} belongs to another user (uid ${found.uid}). Delete it, or run Quarterdeck as that user.`,
    );
  }
  if (found.uid !== account.uid) await lchown(folder, account.uid, account.gid);
  if ((found.mode & 0o7777) !== 0o700) await chmod(folder, 0o700);
}
