// Translates file system errors of a storage's folder for operators.
import { StorageError } from "./storage.ts";
import { toError } from "../to-error.ts";

/** For messages: a storage's folder, and the account that works in it. */
type Disk = { place: string; account: string };

const notAllowed = ({ place, account }: Disk) =>
  `${place} may not be used by ${account}. Give it that account, or rights on it.`;

const words: Record<string, (disk: Disk) => string> = {
  ENOENT: ({ place }) =>
    `${place} is not there. Create it, mount its disk, or correct the storage provider's path in the inventory.`,
  ENOTDIR: ({ place }) =>
    `${place} isn't a folder. Correct the storage provider's path in the inventory.`,
  EACCES: notAllowed,
  EPERM: (disk) =>
    `${notAllowed(disk)} A file there may also be immutable (lsattr): make it removable (chattr -i).`,
  ENOSPC: ({ place }) => `No space left in ${place}. Free some space or delete old backups.`,
  EDQUOT: ({ place }) => `The quota of ${place} is used up. Raise it, or delete old backups.`,
  EROFS: ({ place }) => `${place} is mounted read-only. Look at the disk: a fault often does that.`,
  EIO: ({ place }) =>
    `The disk of ${place} reports an error. Look at it before anything else is lost.`,
  EFBIG: ({ place }) =>
    `The file system of ${place} takes no file as large as this one, as FAT32 takes none above 4 GB. Use another one for it.`,
  ENOTCONN: ({ place }) =>
    `${place} is not connected: the program that mounted it, e.g. sshfs or s3fs, has ended. Mount it anew.`,
  ESTALE: ({ place }) =>
    `The file server of ${place} no longer knows that folder (stale file handle). Mount it anew.`,
  EHOSTDOWN: ({ place }) =>
    `The file server of ${place} doesn't respond. Look at it and at the network.`,
};

/** Messages of programs for these errors, in the C locale of GNU libc and musl. */
const codes: [RegExp, string][] = [
  [/No such file or directory/, "ENOENT"],
  [/Not a directory/, "ENOTDIR"],
  [/Permission denied/, "EACCES"],
  [/Operation not permitted/, "EPERM"],
  [/No space left on device/, "ENOSPC"],
  [/quota exceeded/i, "EDQUOT"],
  [/Read-only file system/, "EROFS"],
  [/(?:Input\/output|I\/O) error/, "EIO"],
  [/File too large/, "EFBIG"],
  [/(?:Transport endpoint is|Socket) not connected/, "ENOTCONN"],
  [/Stale (?:NFS )?file handle/, "ESTALE"],
  [/Host is down/, "EHOSTDOWN"],
];

/** Turns errors of the disk into a StorageError; returns all others unchanged, such as those of the content. */
export function diagnose(error: unknown, disk: Disk): unknown {
  const { code, syscall } = toError(error);
  const tell = code === undefined || syscall === undefined ? undefined : words[code];
  return tell === undefined ? error : new StorageError(tell(disk), { cause: error });
}

/**
 * @param line the reason that a program wrote
 * @returns null where the line is not an error of the disk
 */
export function diagnoseLine(line: string, disk: Disk): StorageError | null {
  const code = codes.find(([pattern]) => pattern.test(line))?.[1] ?? "";
  const tell = words[code];
  return tell === undefined ? null : new StorageError(tell(disk));
}
