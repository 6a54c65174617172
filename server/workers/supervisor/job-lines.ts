// What a process's log shows of it: what it wrote, and whether it has done a job. Laravel's worker writes a line for each.
import { basename } from "node:path";
import { isDiskFull, readLog } from "./log-reader.ts";

/** The lines of Laravel up to 8 ("Processing: App\Jobs\X"), and of those since ("App\Jobs\X ..... RUNNING"). */
const jobLine = /\b(?:Processing|Processed|Failed): |\b(?:RUNNING|DONE|FAIL)\b/;

/** Another program that stands in for artisan may write what it wants. */
const isLaravel = ([program]: readonly string[]) =>
  program !== undefined && basename(program).startsWith("php");

/** Where the log ends now; null where that cannot be told. */
export function logEnd(folder: string): number | null {
  try {
    return readLog(folder, { lines: 1 }).end;
  } catch {
    return null;
  }
}

/** What was written since, by this process or one beside it; nothing where that cannot be told. */
export function outputSince(folder: string, since: number | null): string {
  try {
    return since === null ? "" : readLog(folder, { offset: since }).text;
  } catch {
    return "";
  }
}

/**
 * Whether a job was begun since, by this process or one beside it that writes into the same log. True where nothing can be
 * told: of another program than Laravel's, and of a log that cannot be read or written, or was rotated since.
 * @param since where the log ended when the process was started; null = not known
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
