// Keeps a worker's log from filling the disk. Its processes hold the file open, so it cannot be renamed
// away under them: it is copied and then cut to nothing, like logrotate's `copytruncate`.
import { fstatSync, ftruncateSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import {
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
const mostRounds = 64;

/** @returns whether the log was long enough to be rotated; throws what the file system throws */
export async function rotateLog(folder: string): Promise<boolean> {
  if (sizeOf(logPath(folder)) < maxLogBytes) return false;
  // Each file has its own `finally`: a handle that is left to the garbage collector ends the service.
  const log = await open(logPath(folder), "r+");
  try {
    await copyAndCut(folder, log);
  } finally {
    await log.close();
  }
  return true;
}

async function copyAndCut(folder: string, log: FileHandle): Promise<void> {
  const copyPath = join(folder, "log.copy");
  const copy = await open(copyPath, "w", 0o600);
  try {
    replace(folder, copyPath, log.fd, copy.fd, await copyMost(log, copy));
  } catch (error) {
    rmSync(copyPath, { force: true });
    throw error;
  } finally {
    await copy.close();
  }
}

/** Copies until little is missing. @returns how many bytes it copied */
async function copyMost(log: FileHandle, copy: FileHandle): Promise<number> {
  const chunk = Buffer.alloc(chunkBytes);
  let copied = 0;
  for (let round = 0; round < mostRounds; round += 1) {
    const { size } = await log.stat();
    if (round > 0 && size - copied <= tailBytes) break;
    while (copied < size) {
      const { bytesRead } = await log.read(chunk, 0, chunkBytes, copied);
      if (bytesRead === 0) break;
      await copy.write(chunk, 0, bytesRead, copied);
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
function replace(folder: string, copyPath: string, log: number, copy: number, most: number): void {
  const start = readLogStart(folder);
  let copied = copyRest(log, copy, most);
  writeLogStart(folder, start + copied);
  for (let number = keptLogs - 1; number >= 1; number -= 1)
    if (sizeOf(logPath(folder, number)) > 0)
      renameSync(logPath(folder, number), logPath(folder, number + 1));
  renameSync(copyPath, logPath(folder, 1));
  try {
    for (let round = 0; round < mostRounds && fstatSync(log).size > copied; round += 1) {
      copied = copyRest(log, copy, copied);
      writeLogStart(folder, start + copied);
    }
  } finally {
    // Also where the disk filled up just now: to keep some last lines is not worth another 10 MB.
    ftruncateSync(log, 0);
  }
}

function copyRest(log: number, copy: number, from: number): number {
  const chunk = Buffer.alloc(chunkBytes);
  let copied = from;
  for (let rounds = fstatSync(log).size / chunkBytes; rounds > -1; rounds -= 1) {
    const length = readSync(log, chunk, 0, chunkBytes, copied);
    if (length === 0) break;
    writeSync(copy, chunk, 0, length, copied);
    copied += length;
  }
  return copied;
}
