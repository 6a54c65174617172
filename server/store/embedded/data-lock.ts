// One service per data folder: two would run every job twice and fight over the database.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Another live process works in this data folder. */
export class DataFolderInUse extends Error {
  override name = "DataFolderInUse";
}

/** The data folder cannot be locked at all: no permission, or a file system without locks. */
export class DataFolderUnusable extends Error {
  override name = "DataFolderUnusable";
}

// https://www.sqlite.org/rescode.html#busy
const sqliteBusy = 5;

/** Keeps them from the garbage collector, which would close a lock whose caller forgot it. */
const held = new Set<DatabaseSync>();

/**
 * Holds `folder` (made if missing) for this process. The kernel frees it when the process dies, however it dies.
 *
 * The lock is SQLite's exclusive one on an empty file, a POSIX lock of the kernel: Node has no `flock`, and a pid file alone is
 * wrong as soon as the pid is given to another program. Two things follow from POSIX locks: child processes do not inherit it
 * (a PostgreSQL that outlives a killed service does not keep the folder), and reading `instance.lock` with `node:fs` inside this
 * process would let it go, so nothing may open that file. The folder must be on a file system of this machine.
 *
 * @throws {DataFolderInUse} another process holds it; the message names the folder and the process.
 * @throws {DataFolderUnusable} the folder cannot be made, written or locked.
 */
export function lockDataFolder(folder: string): { release(): void } {
  const pidFile = join(folder, "instance.pid");
  const lock = open(folder);
  try {
    // Without a journal, a second file that a killed process would leave and a full disk would refuse.
    lock.exec("PRAGMA locking_mode = exclusive; PRAGMA journal_mode = off; BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if (!(error instanceof Error && "errcode" in error && error.errcode === sqliteBusy)) {
      throw unusable(folder, error);
    }
    throw new DataFolderInUse(
      `Another Quarterdeck${holder(pidFile)} works in ${folder}. Stop that one, or give this one a folder of its own with QUARTERDECK_DATA.`,
      { cause: error },
    );
  }
  try {
    writeFileSync(pidFile, `${process.pid}\n`);
  } catch {
    // A full disk. The pid serves the message above alone, so it is no reason not to start.
  }
  held.add(lock);
  return {
    release() {
      if (!held.delete(lock)) return;
      rmSync(pidFile, { force: true });
      // The lock file itself stays: removed, two later processes could each lock "the" file.
      lock.close();
    },
  };
}

function open(folder: string): DatabaseSync {
  try {
    mkdirSync(dirname(folder), { recursive: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return new DatabaseSync(join(folder, "instance.lock"));
  } catch (error) {
    throw unusable(folder, error);
  }
}

function holder(pidFile: string): string {
  try {
    const pid = Number.parseInt(readFileSync(pidFile, "utf8"), 10);
    return pid > 0 ? ` (process ${pid})` : "";
  } catch {
    return "";
  }
}

function unusable(folder: string, cause: unknown): DataFolderUnusable {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new DataFolderUnusable(
    `The data folder ${folder} cannot be used (${why}). It must be writable by the user who runs Quarterdeck, on a disk of this machine; QUARTERDECK_DATA names another.`,
    { cause },
  );
}
