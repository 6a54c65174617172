// Locks a data folder, because two services in one would run every job twice and conflict over the database.
import {
  chmodSync,
  closeSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolders } from "./make-folders.ts";
import { toError } from "./to-error.ts";

/** Another live process uses this data folder. */
export class DataFolderInUse extends Error {
  override name = "DataFolderInUse";
}

/** The data folder cannot be locked: no permission, or a file system without locks. */
export class DataFolderUnusable extends Error {
  override name = "DataFolderUnusable";
}

// https://www.sqlite.org/rescode.html#busy
const sqliteBusy = 5;

/** Inside the data folder, whose mode lets the database's account pass. */
const lockFolder = "lock";
const lockFile = "instance.lock";
const pidFile = "instance.pid";

/** Keeps locks from the garbage collector, which would close a lock that its caller no longer refers to. */
const held = new Set<DatabaseSync>();

/**
 * Holds `folder` (made if missing) for this process. The kernel frees it when the process dies, however it dies.
 *
 * The lock is SQLite's exclusive one on an empty file, a POSIX lock of the kernel: Node has no `flock`, and a pid file alone is
 * wrong as soon as the pid is given to another program. Two things follow from POSIX locks: child processes do not inherit it
 * (a PostgreSQL that outlives a killed service does not keep the folder), and reading a lock file with `node:fs` inside this
 * process would let it go, so nothing may open one that is there. The folder must be on a file system of this machine.
 *
 * Whoever can open the file can hold the lock, so it is closed to others in a folder that is closed to others. The file in the data
 * folder itself is what earlier versions lock; it is held as well, so that none of them works here at the same time.
 *
 * @throws {DataFolderInUse} another process holds it; the message names the folder and the process.
 * @throws {DataFolderUnusable} the folder cannot be made, written or locked, or the lock is somebody else's.
 */
export function lockDataFolder(folder: string): { release(): void } {
  const own = join(folder, lockFolder);
  const locks: DatabaseSync[] = [];
  try {
    makeFolders(folder, 0o700);
    const owners = ownersOf(folder);
    makeOwn(own, "folder", owners);
    locks.push(hold(own, owners));
    locks.push(hold(folder, owners));
  } catch (error) {
    for (const lock of locks) lock.close();
    if (!isBusy(error)) throw unusable(folder, error);
    throw new DataFolderInUse(
      `Another Quarterdeck${holder(own, folder)} is using ${folder}. Stop it, or set QUARTERDECK_DATA to another folder.`,
      { cause: error },
    );
  }
  notePid(own, folder);
  for (const lock of locks) held.add(lock);
  return {
    release() {
      for (const lock of locks.splice(0)) {
        // The lock files themselves stay: removed, two later processes could each lock "the" file.
        rmSync(join(own, pidFile), { force: true });
        held.delete(lock);
        lock.close();
      }
    },
  };
}

/**
 * Possible owners of the lock: this process's user, or the data folder's owner where root runs a service that belongs to an
 * ordinary user.
 */
type Owners = { own: number; folder: Stats };

const ownersOf = (folder: string): Owners => ({
  own: process.geteuid?.() ?? 0,
  folder: statSync(folder),
});

/** Locks the lock file in `folder`. */
function hold(folder: string, owners: Owners): DatabaseSync {
  const path = join(folder, lockFile);
  makeOwn(path, "file", owners);
  try {
    return lockExclusively(path);
  } catch (error) {
    if (!isBusy(error) || isHeldByService(path)) throw error;
    // Earlier versions left the file readable for every account, so another account may hold a read lock, which no service takes.
    // The file of a running service is never removed, because that service holds an exclusive lock.
    rmSync(path);
    makeOwn(path, "file", owners);
    return lockExclusively(path);
  }
}

function lockExclusively(path: string): DatabaseSync {
  const lock = new DatabaseSync(path);
  try {
    // Keeps the journal in memory, because a killed process would leave a journal file, and a full disk would prevent one. Node
    // does not allow a database without a journal.
    lock.exec("PRAGMA locking_mode = exclusive; PRAGMA journal_mode = memory; BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Whether even a reader is locked out. */
function isHeldByService(path: string): boolean {
  const reader = new DatabaseSync(path, { readOnly: true });
  try {
    reader.exec("SELECT 1 FROM sqlite_schema");
    return false;
  } catch {
    return true;
  } finally {
    reader.close();
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && error.errcode === sqliteBusy;

/**
 * Creates a private folder or file, or checks that it is one.
 * @throws Error it is a link, something else, or belongs to another user
 */
function makeOwn(path: string, kind: "folder" | "file", { own, folder }: Owners): void {
  const mode = kind === "folder" ? 0o700 : 0o600;
  try {
    if (kind === "folder") mkdirSync(path, { mode });
    // Fails without opening an existing file.
    else closeSync(openSync(path, "wx", mode));
    if (folder.uid !== own && own === 0) lchownSync(path, folder.uid, folder.gid);
  } catch (error) {
    if (toError(error).code !== "EEXIST") throw error;
  }
  const found = lstatSync(path);
  if (!(kind === "folder" ? found.isDirectory() : found.isFile() && found.nlink === 1))
    throw new Error(`${path} is not a plain ${kind}; delete it`);
  if (found.uid !== own && found.uid !== folder.uid)
    throw new Error(`${path} belongs to another user (uid ${found.uid}); delete it`);
  if ((found.mode & 0o7777) !== mode) chmodSync(path, mode);
}

/** Stores the pid for the message of DataFolderInUse. */
function notePid(own: string, folder: string): void {
  const path = join(own, pidFile);
  try {
    // Removed first, because the mode only applies to new files. A pid of an earlier version is outdated.
    for (const old of [path, join(folder, pidFile)]) rmSync(old, { force: true });
    writeFileSync(path, `${process.pid}\n`, { mode: 0o600, flag: "wx" });
  } catch {
    // On a full disk the pid is only missing in a message, so the start continues.
  }
}

/**
 * Returns the pid of the process that holds the lock. The file in the data folder itself only exists while an earlier version
 * runs.
 */
function holder(own: string, folder: string): string {
  for (const path of [join(folder, pidFile), join(own, pidFile)]) {
    try {
      const pid = Number.parseInt(readFileSync(path, "utf8"), 10);
      if (pid > 0) return ` (process ${pid})`;
    } catch {
      // The other file may exist.
    }
  }
  return "";
}

function unusable(folder: string, cause: unknown): DataFolderUnusable {
  const why = toError(cause).message;
  return new DataFolderUnusable(
    `Couldn't use the data folder ${folder}: ${why}. It must be on a local disk and writable by the user that runs Quarterdeck. Set QUARTERDECK_DATA to use another folder.`,
    { cause },
  );
}
