// Diagnoses why the database stopped or does not start, in words an operator can act on.
import { statfs } from "node:fs/promises";
import { readLogSince } from "./log-file.ts";
import type { Place } from "./place.ts";

/** Ends the sentence that says what to do: the watchdog restarts the database, nothing repeats a failed first start. */
export type RetryHint =
  | "; the database then restarts automatically."
  | ", then start Quarterdeck again.";

/** What of a place the words name. */
type Files = Pick<Place, "home" | "data" | "logFile">;

const megabyte = 1024 * 1024;
/** PostgreSQL makes its log of changes in files of 16 MB; below that it cannot go on. */
const leastFreeBytes = 16 * megabyte;

const causes: readonly (readonly [pattern: RegExp, words: (place: Files) => string])[] = [
  [
    /Cannot allocate memory|out of memory|could not map anonymous shared memory/i,
    () => "The machine has no memory left for the database. Free some memory",
  ],
  [
    /Too many open files|could not fork/i,
    () =>
      "The database has reached its limit of open files or processes. Raise the limits of its user",
  ],
  [
    /Read-only file system|Permission denied/i,
    ({ home }) =>
      `The database cannot write to ${home}. Make sure that the disk is not read-only and that the folder belongs to the database's user`,
  ],
  [
    /Input\/output error|could not locate a valid checkpoint|invalid checkpoint record/i,
    ({ data }) =>
      `The disk is failing, or the database files in ${data} are damaged. Check the disk. If it is fine, restore that folder from a backup`,
  ],
];

/** Codes of sessions that were refused or ended, which is no cause: shutdowns, log-ins, lost connections, too many of them. */
const harmless = /^(57P|28|3D|08|53300)/;

/** `ending` says how the process ended, e.g. "signal SIGKILL"; the rest is read from the log since `logStartBytes` and from the disk. */
export async function explainEnd(
  place: Files,
  logStartBytes: number,
  ending: string,
  retryHint: RetryHint,
): Promise<string> {
  const lastWords = readLastWords(await readLogSince(place.logFile, logStartBytes));
  const cause = await explainText(place, lastWords.join("\n"), retryHint);
  return (
    cause ??
    `The database stopped unexpectedly (${lastWords.at(-1) ?? ending}). See its log, ${place.logFile}.`
  );
}

/** What the printed `text` of a program means, or null. */
export async function explainText(
  place: Files,
  text: string,
  retryHint: RetryHint,
): Promise<string | null> {
  const disk = await statfs(place.home).catch(() => null);
  const freeBytes = disk ? disk.bavail * disk.bsize : Number.POSITIVE_INFINITY;
  // The disk itself is asked too, because a full one keeps the last lines of the log as well.
  if (/No space left on device|Disk quota exceeded/i.test(text) || freeBytes < leastFreeBytes) {
    const free = disk ? ` (${Math.floor(freeBytes / megabyte)} MB free)` : "";
    return `The disk that holds ${place.home} is full${free}. Free some space${retryHint}`;
  }
  const words = causes.find(([pattern]) => pattern.test(text))?.[1];
  return words ? `${words(place)}${retryHint}` : null;
}

/** The lines that ended a server. An error of one query, even a full disk, did not. */
function readLastWords(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    // "2026-11-20 23:24:16.000 UTC [123] XX000 FATAL:  could not …"; what the system itself says has no such start.
    const [, code, level, words] = /^\d{4}-.*? \[\d+\] (\w{5}) ([A-Z]+): {2}(.*)$/.exec(line) ?? [];
    if (code === undefined || words === undefined) return /^\S/.test(line) ? [line] : [];
    if (level === "LOG") return / \(PID \d+\) was terminated by /.test(words) ? [words] : [];
    return (level === "PANIC" || level === "FATAL") && !harmless.test(code) ? [words] : [];
  });
}
