// Reads a worker's log: the last lines, or what follows an offset.
import { freeBytesAt, logPath, readBytes, readLogStart, sizeOf } from "./log-files.ts";
import { fileProblem } from "./reasons.ts";

export const maxReadBytes = 64 * 1024;

export type LogPart = {
  /** Bytes that are not UTF-8 are replaced. */
  text: string;
  /** Where the text starts and ends, in bytes since the worker's first one. */
  start: number;
  end: number;
  rotated: boolean;
  /** Why the log cannot be read, or is not whole, as a sentence; left out where nothing is wrong. */
  problem?: string;
};

const newline = 0x0a;

/** Reads like `readLog`; where the file system refuses that, returns no text, and the reason as `problem`. */
export function readLogOrProblem(
  folder: string,
  from: { lines: number } | { offset: number },
): LogPart {
  try {
    return readLog(folder, from);
  } catch (error) {
    const at = "offset" in from ? from.offset : 0;
    const problem = `Couldn't read the log: ${fileProblem(error)}.`;
    return { text: "", start: at, end: at, rotated: false, problem };
  }
}

/** With fewer free bytes the disk counts as full: a process soon fills that, and further output is lost without an error. */
export const fullBytes = 64 * 1024;

export const isDiskFull = (folder: string): boolean =>
  (freeBytesAt(folder) ?? Infinity) < fullBytes;

/** Reads a log that processes write on this machine, and reports a full disk as `problem`. */
export function readWrittenLog(
  folder: string,
  from: { lines: number } | { offset: number },
): LogPart {
  const part = readLogOrProblem(folder, from);
  return part.problem === undefined && isDiskFull(folder)
    ? {
        ...part,
        problem: "The disk that the log is on is full, so new output is lost. Free space on it.",
      }
    : part;
}

/**
 * @param from the last `lines`, or what follows `offset`; at most 64 KiB
 * @throws the file system's error
 */
export function readLog(folder: string, from: { lines: number } | { offset: number }): LogPart {
  // The newest rotated log is read as well, so that nothing is missed at a rotation.
  const logStart = readLogStart(folder);
  const end = logStart + sizeOf(logPath(folder));
  const oldest = Math.max(0, logStart - sizeOf(logPath(folder, 1)));
  const bytesFrom = (start: number): Buffer => {
    const length = Math.min(end - start, maxReadBytes);
    const old = Math.min(length, Math.max(0, logStart - start));
    const rotated = old > 0 ? readBytes(logPath(folder, 1), start - oldest, old) : Buffer.alloc(0);
    const present = readBytes(logPath(folder), Math.max(0, start - logStart), length - old);
    return Buffer.concat([rotated, present]);
  };

  if ("lines" in from) {
    const start = Math.max(oldest, end - maxReadBytes);
    const bytes = withoutCutEnd(bytesFrom(start));
    const skipped = startOfLines(bytes, from.lines) ?? (start > oldest ? startOfText(bytes) : 0);
    return part(bytes.subarray(skipped), start + skipped, false);
  }

  const rotated = from.offset < oldest || from.offset > end;
  const start = rotated ? logStart : from.offset;
  const bytes = bytesFrom(start);
  const skipped = start > oldest ? startOfCharacter(bytes) : 0;
  const rest = bytes.subarray(skipped);
  const isLast = start + bytes.length >= end;
  return part(isLast ? withoutCutEnd(rest) : wholeLines(rest), start + skipped, rotated);
}

const part = (bytes: Buffer, start: number, rotated: boolean): LogPart => ({
  text: bytes.toString("utf8"),
  start,
  end: start + bytes.length,
  rotated,
});

/** Returns the position of the last `count` lines; null where there are fewer. */
function startOfLines(bytes: Buffer, count: number): number | null {
  // The newline that ends the last line does not begin another one.
  let at = bytes.at(-1) === newline ? bytes.length - 1 : bytes.length;
  for (let line = 0; line < count; line += 1) {
    if (at === 0) return null;
    at = bytes.lastIndexOf(newline, at - 1);
    if (at === -1) return null;
  }
  return at + 1;
}

/** Skips an incomplete first line, unless it is the only one. */
function startOfText(bytes: Buffer): number {
  const next = bytes.indexOf(newline) + 1;
  return next === 0 || next === bytes.length ? startOfCharacter(bytes) : next;
}

const wholeLines = (bytes: Buffer): Buffer => {
  const end = bytes.lastIndexOf(newline) + 1;
  return end === 0 ? withoutCutEnd(bytes) : bytes.subarray(0, end);
};

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

function startOfCharacter(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && isContinuation(bytes[at])) at += 1;
  return at;
}

/** Leaves an incomplete last character to the next read. */
function withoutCutEnd(bytes: Buffer): Buffer {
  let at = bytes.length - 1;
  while (at > bytes.length - 4 && isContinuation(bytes[at])) at -= 1;
  const lead = bytes[at] ?? 0;
  const needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return at >= 0 && at + needed > bytes.length ? bytes.subarray(0, at) : bytes;
}
