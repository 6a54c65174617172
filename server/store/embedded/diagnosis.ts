// Finds out why the database stopped or does not start, for operators.
import { statfs } from "node:fs/promises";
import { readLogSince } from "./log-file.ts";
import type { Place } from "./place.ts";

/** End of the message that says what to do: the watchdog restarts the database, but nothing repeats a failed first start. */
export type RetryHint =
  | "; the database then restarts automatically."
  | ", then start Quarterdeck again.";

/** The parts of a place that messages name. */
type Files = Pick<Place, "home" | "data" | "logFile">;

const megabyte = 1024 * 1024;
/** PostgreSQL writes its WAL in files of 16 MB; with less free space it cannot continue. */
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

/** Codes of refused or ended sessions, which are not a cause: shutdowns, logins, lost connections, too many connections. */
const harmless = /^(57P|28|3D|08|53300)/;

/**
 * Explains why the server ended, from its log and the free disk space.
 * @param logStartBytes size of the log at the start of the server
 * @param ending how the process ended, such as "signal SIGKILL"; used where the log says nothing
 */
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

/** Explains the output of a program; null = unknown. */
export async function explainText(
  place: Files,
  text: string,
  retryHint: RetryHint,
): Promise<string | null> {
  const disk = await statfs(place.home).catch(() => null);
  const freeBytes = disk ? disk.bavail * disk.bsize : Number.POSITIVE_INFINITY;
  // The free space is checked too, because a full disk also loses the last lines of the log.
  if (/No space left on device|Disk quota exceeded/i.test(text) || freeBytes < leastFreeBytes) {
    const free = disk ? ` (${Math.floor(freeBytes / megabyte)} MB free)` : "";
    return `The disk that holds ${place.home} is full${free}. Free some space${retryHint}`;
  }
  const words = causes.find(([pattern]) => pattern.test(text))?.[1];
  return words ? `${words(place)}${retryHint}` : null;
}

/** Returns the lines of the log that ended a server. Errors of a single query did not, even those of a full disk. */
function readLastWords(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    // "2026-11-20 23:24:16.000 UTC [123] XX000 FATAL:  could not …"; messages of the system have no such prefix.
    const [, code, level, words] = /^\d{4}-.*? \[\d+\] (\w{5}) ([A-Z]+): {2}(.*)$/.exec(line) ?? [];
    if (code === undefined || words === undefined) return /^\S/.test(line) ? [line] : [];
    if (level === "LOG") return / \(PID \d+\) was terminated by /.test(words) ? [words] : [];
    return (level === "PANIC" || level === "FATAL") && !harmless.test(code) ? [words] : [];
  });
}
