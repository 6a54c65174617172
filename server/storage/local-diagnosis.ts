// What the operating system says of a folder, in the operator's words.
import { StorageError } from "./storage.ts";
import { toError } from "../to-error.ts";

const words: Record<string, (root: string) => string> = {
  ENOENT: (root) =>
    `${root} is not there. Create it, mount its disk, or correct the storage provider's path in the inventory.`,
  ENOTDIR: (root) =>
    `${root} isn't a folder. Correct the storage provider's path in the inventory.`,
  EACCES: (root) =>
    `${root} may not be used by the account that runs the service. Give it that account, or rights on it.`,
  EPERM: (root) =>
    `${root} may not be used by the account that runs the service. Give it that account, or rights on it.`,
  ENOSPC: (root) => `No space left in ${root}. Free some space, or keep fewer backups.`,
  EDQUOT: (root) => `The quota of ${root} is used up. Raise it, or keep fewer backups.`,
  EROFS: (root) => `${root} is mounted read-only. Look at the disk: a fault often does that.`,
  EIO: (root) => `The disk of ${root} reports an error. Look at it before anything else is lost.`,
};

/** Errors of the disk become StorageErrors; all others, e.g. of what was to be stored, stay what they are. */
export function diagnose(error: unknown, root: string): unknown {
  const { code, syscall } = toError(error);
  const tell = code === undefined || syscall === undefined ? undefined : words[code];
  return tell === undefined ? error : new StorageError(tell(root), { cause: error });
}
