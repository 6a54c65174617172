// A worker's log files: `log`, to which its processes append, and the rotated ones.
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { toError } from "../../to-error.ts";

export const maxLogBytes = 10 * 1024 * 1024;
export const keptLogs = 3;

/** Path of a rotated log, numbered from 1, the newest; 0 is the current log. */
export const logPath = (folder: string, number = 0): string =>
  join(folder, number === 0 ? "log" : `log.${number}`);

const ownMode = 0o600;

const startPath = (folder: string) => join(folder, "log.start");

/** Reads bytes of a file from `position`, fewer at its end; none where the file does not exist. */
export function readBytes(path: string, position: number, length: number): Buffer {
  let file: number;
  try {
    // Neither blocks on a pipe nor follows a link: neither is a log.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if (toError(error).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, position));
  } finally {
    closeSync(file);
  }
}

export const sizeOf = (path: string): number =>
  lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** @returns free bytes on the disk of a folder, for accounts other than root; null = unknown */
export function freeBytesAt(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** Moves aside what is not a regular file or cannot be opened, instead of deleting it. */
export function repairLog(folder: string): void {
  const path = logPath(folder);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || (found.isFile() && (found.mode & ownMode) === ownMode)) return;
  try {
    if (!found.isFile()) throw new Error("not a file");
    chmodSync(path, ownMode);
  } catch {
    renameSync(path, join(folder, `log.set-aside-${Date.now()}`));
  }
}

/** Opens the log for appending; only the service's account can read it. */
export function openLog(folder: string): number {
  repairLog(folder);
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const file = openSync(logPath(folder), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    fchmodSync(file, 0o600);
    // Written at once, because overwriting it later needs no space on a full disk.
    if (sizeOf(startPath(folder)) === 0) writeLogStart(folder, 0);
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return file;
}

/**
 * Returns the offset of the first byte of `log`: the number of bytes that were rotated away. Offsets count from the worker's
 * first byte, so that a client that reads on after a rotation cannot mistake new text for old.
 */
export function readLogStart(folder: string): number {
  try {
    const start = Number(readFileSync(startPath(folder), "utf8"));
    return Number.isSafeInteger(start) && start >= 0 ? start : 0;
  } catch {
    return 0;
  }
}

/** Overwrites the offset in place by one small write of fixed size, which neither a full disk nor a kill can interrupt. */
export function writeLogStart(folder: string, start: number): void {
  const file = openSync(startPath(folder), constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    writeSync(file, String(start).padEnd(20), 0);
  } finally {
    closeSync(file);
  }
}
