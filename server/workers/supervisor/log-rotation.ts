// Keeps a worker's log from filling the disk. Its processes hold the file open, so it cannot be renamed
// away under them: it is copied and then cut to nothing, like logrotate's `copytruncate`.
import { fstatSync, ftruncateSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import {
  freeBytesAt,
  keptLogs,
  logPath,
  maxLogBytes,
  readLogStart,
  sizeOf,
  writeLogStart,
} from "./log-files.ts";

const chunkBytes = 256 * 1024;
/** What may be left to copy without yielding to the service's other work. */
const tailBytes = 1024 * 1024;
/** Against a writer that is always ahead. */
const maxRounds = 64;
/**
 * The worker holds the file and may make it as long as it likes, without writing it: a copy of terabytes of nothing would
 * fill the disk. What a flood brings within a second fits.
 */
const maxCopiedBytes = 8 * maxLogBytes;

/** @returns whether the log was long enough to be rotated; throws what the file system throws */
export async function rotateLog(folder: string): Promise<boolean> {
  if (sizeOf(logPath(folder)) < maxLogBytes) return false;
  // Each file has its own `finally`: a handle that is left to the garbage collector ends the service.
  const log = await open(logPath(folder), "r+");
  try {
    const { size } = await log.stat();
    makeRoom(folder, Math.min(size, maxCopiedBytes) + tailBytes);
    await copyAndCut(folder, log, size);
  } finally {
    await log.close();
  }
  return true;
}

/**
 * A copy that fails for want of room takes the last of it from everybody else on the disk, with every attempt. The log that
 * goes with this rotation may go before it.
 * @throws where there is no room for the copy
 */
function makeRoom(folder: string, neededBytes: number): void {
  const freeBytes = freeBytesAt(folder);
  if (freeBytes === null || freeBytes >= neededBytes) return;
  const oldest = logPath(folder, keptLogs);
  if (freeBytes + sizeOf(oldest) < neededBytes)
    throw new Error("the disk is too full for a copy of the log");
  rmSync(oldest);
}

async function copyAndCut(folder: string, log: FileHandle, size: number): Promise<void> {
  const copyPath = join(folder, "log.copy");
  const copy = await open(copyPath, "w", 0o600);
  try {
    const span = spanOf(Math.max(0, size - maxCopiedBytes));
    replace(folder, copyPath, log.fd, copy.fd, span, await copyMost(log, copy, span));
  } catch (error) {
    rmSync(copyPath, { force: true });
    throw error;
  } finally {
    await copy.close();
  }
}

/** The part of the log that is copied; what is before it is lost, and what comes after it as well. */
type Span = { from: number; to: number };
const spanOf = (from: number): Span => ({ from, to: from + maxCopiedBytes + maxLogBytes });

/** Copies until little is missing. @returns up to which byte of the log it copied */
async function copyMost(log: FileHandle, copy: FileHandle, span: Span): Promise<number> {
  const chunk = Buffer.alloc(chunkBytes);
  let copied = span.from;
  for (let round = 0; round < maxRounds; round += 1) {
    const size = Math.min((await log.stat()).size, span.to);
    if (round > 0 && size - copied <= tailBytes) break;
    while (copied < size) {
      const { bytesRead } = await log.read(chunk, 0, chunkBytes, copied);
      if (bytesRead === 0) break;
      await copy.write(chunk, 0, bytesRead, copied - span.from);
      copied += bytesRead;
    }
  }
  return copied;
}

/**
 * Puts the copy in its place and empties the log, without yielding, so that no reader sees it half done.
 * Lost is only what a process writes between the last look and the cut, some microseconds apart. A kill
 * in between loses nothing: the log is still whole then, and is told a second time.
 */
function replace(
  folder: string,
  copyPath: string,
  log: number,
  copy: number,
  span: Span,
  most: number,
): void {
  const start = readLogStart(folder);
  let copied = copyRest(log, copy, span, most);
  writeLogStart(folder, start + copied);
  for (let number = keptLogs - 1; number >= 1; number -= 1)
    if (sizeOf(logPath(folder, number)) > 0)
      renameSync(logPath(folder, number), logPath(folder, number + 1));
  renameSync(copyPath, logPath(folder, 1));
  try {
    for (let round = 0; round < maxRounds && fstatSync(log).size > copied; round += 1) {
      copied = copyRest(log, copy, span, copied);
      writeLogStart(folder, start + copied);
    }
  } finally {
    // Also where the disk filled up just now: to keep some last lines is not worth another 10 MB.
    ftruncateSync(log, 0);
  }
}

function copyRest(log: number, copy: number, span: Span, most: number): number {
  const chunk = Buffer.alloc(chunkBytes);
  let copied = most;
  const size = Math.min(fstatSync(log).size, span.to);
  for (let rounds = (size - most) / chunkBytes; rounds > -1; rounds -= 1) {
    const length = readSync(log, chunk, 0, chunkBytes, copied);
    if (length === 0) break;
    writeSync(copy, chunk, 0, length, copied - span.from);
    copied += length;
  }
  return copied;
}
