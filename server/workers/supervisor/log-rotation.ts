// Rotates a worker's log. Its processes have the file open, so it cannot be renamed: it is copied and then truncated, like
// logrotate's `copytruncate`.
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
/** Most bytes to copy synchronously at the end. */
const tailBytes = 1024 * 1024;
/** Limit for a process that writes faster than the log is copied. */
const maxRounds = 64;
/**
 * Limit, because the worker may extend its file to any size without writing (a sparse file), and its copy would fill the disk.
 * The output of one second fits, even at a high rate.
 */
const maxCopiedBytes = 8 * maxLogBytes;

/**
 * @returns whether the log was long enough to be rotated
 * @throws the file system's error
 */
export async function rotateLog(folder: string): Promise<boolean> {
  if (sizeOf(logPath(folder)) < maxLogBytes) return false;
  // Each file has its own `finally`, because Node throws when a file handle is closed by the garbage collector.
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
 * Checks the free space before copying, because each failing copy would fill the disk for all others. If needed, deletes the
 * oldest log, which this rotation would delete anyway.
 * @throws where there is no space for the copy
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

/** The part of the log that is copied; the rest is lost. */
type Span = { from: number; to: number };
const spanOf = (from: number): Span => ({ from, to: from + maxCopiedBytes + maxLogBytes });

/** Copies until at most `tailBytes` are missing. @returns the position in the log up to which it copied */
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
 * Puts the copy in its place and truncates the log, synchronously, so that no reader sees an intermediate state. Only output
 * between the last check and the truncation, some microseconds apart, is lost. A kill before the truncation loses nothing: the
 * log is still complete, and its content appears twice.
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
    // Also if the disk has just filled up: the last lines are not worth another 10 MB.
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
