// PostgreSQL's own log: a file that the server appends to, limited here instead of by PostgreSQL's logging process.
import { constants } from "node:fs";
import { copyFile, open, stat, truncate, type FileHandle } from "node:fs/promises";
import type { Clock } from "../../clock.ts";
import type { Log } from "./log.ts";

const trimIntervalMs = 60_000;
const longestLogBytes = 4 * 1024 * 1024;
const tailBytes = 16 * 1024;

/**
 * Opens the log for appending, so that after `trimLog` a running server continues at the new end. Never follows a symbolic link.
 */
export function openLog(path: string): Promise<FileHandle> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  return open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
}

/** Moves a log that is too long to `<path>.old`; so both have 8 MB at most, plus what is written between two calls. */
export async function trimLog(path: string): Promise<void> {
  if ((await logSizeBytes(path)) <= longestLogBytes) return;
  // Copied instead of renamed, because the server keeps writing to its open file.
  await copyFile(path, `${path}.old`).catch(() => {
    // On a full disk the old lines are dropped.
  });
  await truncate(path);
}

/** Trims the log periodically until `signal` aborts. */
export function keepLogShort(path: string, clock: Clock, log: Log, signal: AbortSignal): void {
  let cancelTimer = () => {};
  const trim = async () => {
    await trimLog(path).catch((error: unknown) =>
      log.warn(`Couldn't shorten the database log ${path}: ${String(error)}`),
    );
    if (!signal.aborted) arm();
  };
  const arm = () => {
    cancelTimer = clock.after(trimIntervalMs, () => void trim());
  };
  signal.addEventListener("abort", () => cancelTimer());
  arm();
}

export async function logSizeBytes(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

/** Returns the end of what was written after the first `fromByte` bytes of the log. */
export async function readLogSince(path: string, fromByte: number): Promise<string> {
  const file = await open(path).catch(() => null);
  if (!file) return "";
  try {
    const { size } = await file.stat();
    const start = Math.max(size < fromByte ? 0 : fromByte, size - tailBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tailBytes), 0, tailBytes, start);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
