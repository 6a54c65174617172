// Recovers a worker's log that was deleted or made unreadable, and copies what processes still write into the deleted file:
// they have it open, and cannot be given another one.
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readlinkSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import {
  logPath,
  maxLogBytes,
  openLog,
  readLogStart,
  repairLog,
  writeLogStart,
} from "./log-files.ts";
import { writeLogNote } from "./log-note.ts";

const chunkBytes = 256 * 1024;
/** The same as at a rotation: the worker may extend its file to any size without writing (a sparse file). */
const maxCopiedBytes = 8 * maxLogBytes;

type Seen = { inode: number; size: number };

export function createLogRecovery(folder: string) {
  /** Inode and size of the log at the last check. */
  let seen: Seen | null = null;

  /** Returns the path of a process's output if that is a deleted log of this worker; null otherwise, or without permission to see it. */
  function deletedLogOf(pid: number, device: number): string | null {
    const path = `/proc/${pid}/fd/1`;
    try {
      const file = statSync(path);
      // Excludes other files that a site's program has opened as its output.
      const isLog =
        file.isFile() &&
        file.nlink === 0 &&
        file.dev === device &&
        file.uid === process.geteuid?.() &&
        readlinkSync(path) === `${logPath(folder)} (deleted)`;
      return isLog ? path : null;
    } catch {
      return null;
    }
  }

  /**
   * Begins a new log after the deletion of the one of the last check. Offsets continue after the end of the deleted file, so that
   * clients that follow the log do not mistake new bytes for the old ones; they see a rotation.
   * @returns the position in the deleted file from which its content is copied
   */
  function begin(lookedAt: number, size: number): number {
    writeLogStart(folder, readLogStart(folder) + size);
    writeLogNote(folder, "The log was deleted. New output starts here.", new Date());
    seen = null;
    return lookedAt;
  }

  function bringIn(path: string): void {
    const deleted = openSync(path, constants.O_RDWR);
    try {
      const stats = fstatSync(deleted);
      if (stats.size === 0) return;
      // A log that was deleted before its first check is copied from its beginning.
      const lookedAt = seen?.inode === stats.ino ? seen.size : isGone(folder) ? 0 : null;
      const first = lookedAt === null ? 0 : begin(lookedAt, stats.size);
      const log = openLog(folder);
      try {
        copy(deleted, log, Math.max(first, stats.size - maxCopiedBytes));
      } finally {
        closeSync(log);
      }
    } finally {
      closeSync(deleted);
    }
  }

  return {
    /**
     * Checks and recovers the log.
     * @param pids pids of the worker's processes
     * @throws the file system's error
     */
    look(pids: readonly number[]): void {
      repairLog(folder);
      const device = statSync(folder).dev;
      for (const pid of pids) {
        const path = deletedLogOf(pid, device);
        if (path !== null) bringIn(path);
      }
      const log = statSync(logPath(folder), { throwIfNoEntry: false });
      if (log !== undefined) seen = { inode: log.ino, size: log.size };
    },
  };
}

const isGone = (folder: string) =>
  statSync(logPath(folder), { throwIfNoEntry: false }) === undefined;

/** Copies to the end and empties the source, synchronously: output between the two, some microseconds apart, is lost. */
function copy(source: number, target: number, from: number): void {
  const chunk = Buffer.alloc(chunkBytes);
  const most = from + maxCopiedBytes;
  for (let at = from; at < most;) {
    const length = readSync(source, chunk, 0, chunkBytes, at);
    if (length === 0) break;
    writeSync(target, chunk, 0, length);
    at += length;
  }
  ftruncateSync(source, 0);
}
