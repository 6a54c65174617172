// Reads from a worker's log what was written since a start, and whether a job was begun: Laravel writes a line for each.
import { basename } from "node:path";
import { isDiskFull, readLog } from "./log-reader.ts";

/** Matches the lines of Laravel up to 8 ("Processing: App\Jobs\X"), and of later versions ("App\Jobs\X ..... RUNNING"). */
const jobLine = /\b(?:Processing|Processed|Failed): |\b(?:RUNNING|DONE|FAIL)\b/;

/** Whether the command is PHP: the output of another program in place of artisan has no known format. */
const isLaravel = ([program]: readonly string[]) =>
  program !== undefined && basename(program).startsWith("php");

/** Returns the offset at which the log ends now; null where it cannot be read. */
export function logEnd(folder: string): number | null {
  try {
    return readLog(folder, { lines: 1 }).end;
  } catch {
    return null;
  }
}

/** Returns the output since an offset, of all processes of the worker; "" where it cannot be read. */
export function outputSince(folder: string, since: number | null): string {
  try {
    return since === null ? "" : readLog(folder, { offset: since }).text;
  } catch {
    return "";
  }
}

/**
 * Whether a job was begun since an offset, by any process of the worker, because all write into the same log. Also true where
 * that is unknown: the program is not PHP, or the log cannot be read or written, or was rotated since.
 * @param since the end of the log when the process was started; null = unknown
 */
export function mayHaveWorked(
  folder: string,
  args: readonly string[],
  since: number | null,
): boolean {
  if (since === null || !isLaravel(args)) return true;
  try {
    const { text, rotated } = readLog(folder, { offset: since });
    return rotated || jobLine.test(text) || isDiskFull(folder);
  } catch {
    return true;
  }
}
