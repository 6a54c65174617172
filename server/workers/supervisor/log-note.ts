// Writes the supervisor's own lines into a worker's log.
import { closeSync, fstatSync, writeSync } from "node:fs";
import { logPath, openLog, readBytes } from "./log-files.ts";

/** Prefix of the lines that the worker did not write. */
const notePrefix = "[quarterdeck]";

/**
 * Appends a line, after a newline where the worker's last line is incomplete.
 * @throws the file system's error
 */
export function writeLogNote(folder: string, text: string, at: Date): void {
  const file = openLog(folder);
  try {
    const { size } = fstatSync(file);
    const last = size === 0 ? "" : readBytes(logPath(folder), size - 1, 1).toString("latin1");
    const lead = last === "" || last === "\n" ? "" : "\n";
    writeSync(file, `${lead}${notePrefix} ${at.toISOString()} ${text}\n`);
  } finally {
    closeSync(file);
  }
}
