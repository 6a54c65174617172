// PostgreSQL's own log: a file that the server appends to, kept small here instead of by a process of PostgreSQL more.
import { constants } from "node:fs";
import { copyFile, open, stat, truncate, type FileHandle } from "node:fs/promises";
import type { Clock } from "../../clock.ts";
import type { Log } from "./log.ts";

const trimIntervalMs = 60_000;
const longestLogBytes = 4 * 1024 * 1024;
const tailBytes = 16 * 1024;

/** For appending: after `trimLog` the next line of a running server lands at the new end. Never through a symbolic link. */
export function openLog(path: string): Promise<FileHandle> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  return open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
}

/** A log past its length becomes `<path>.old` and starts anew; so the two hold 8 MB and what one interval of calls adds. */
export async function trimLog(path: string): Promise<void> {
  if ((await logSizeBytes(path)) <= longestLogBytes) return;
  // Copied, not renamed: the server keeps writing to the file it was given.
  await copyFile(path, `${path}.old`).catch(() => {
    // The disk is full; then all the more the old lines go.
  });
  await truncate(path);
}

/** Trims the log again and again until `signal`. */
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

/** The end of what was written since the log was `fromByte` long. */
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
