// Somebody deleted a worker's log, or took the right to read it: puts it right, and brings in what processes go on writing
// into the deleted file. They hold it open, and nobody can give them another one.
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
/** As at a rotation: the worker may make its file as long as it likes without writing it. */
const maxCopiedBytes = 8 * maxLogBytes;

type Seen = { inode: number; size: number };

export function createLogRecovery(folder: string) {
  /** The log as it was at the last look. */
  let seen: Seen | null = null;

  /** The process's output as a deleted log of this worker; null where it is something else, or not ours to see. */
  function deletedLogOf(pid: number, device: number): string | null {
    const path = `/proc/${pid}/fd/1`;
    try {
      const file = statSync(path);
      // Whatever a site's program has opened in its place is none of our business.
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
   * It was the log at the last look: what came since then is brought in. Offsets go on behind all of it, so that nobody who
   * follows the log takes the new one's bytes for those that they wait for; they are told of a rotation.
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
      // Of one that was deleted while nobody looked, all is new.
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
     * Throws what the file system throws.
     * @param pids of the worker's processes
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

/** Copies to the end and empties the source, without yielding: what is written in between is lost, some microseconds. */
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
