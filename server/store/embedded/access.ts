// Finds out which folders an account can enter, and makes folders that only one account can.
import { chmod, lchown, lstat, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ownAccount } from "./account.ts";
import type { Account } from "./command.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

/**
 * The highest folder on the way to and including `folder` (a real path) that `account` cannot enter, or null.
 * By the mode bits: access lists may allow more, which then goes unused. Of its groups the account has only the first one, as a
 * process loses the others when it is given to another user.
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
 * Makes `folder` with mode 0700 for `account`, or checks that it is exactly that. In a shared place such as /tmp somebody else may
 * have been first, with a folder of theirs or a symbolic link: then nothing of ours may go in.
 *
 * @throws {EmbeddedPostgresError} it is a link, no folder, or somebody else's.
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
