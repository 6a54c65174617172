// Lines of the supervisor's own in a worker's log.
import { closeSync, fstatSync, writeSync } from "node:fs";
import { logPath, openLog, readBytes } from "./log-files.ts";

/** Every line that is not the worker's own begins with it. */
const notePrefix = "[quarterdeck]";

/** Adds a line, never in the middle of the worker's last one. Throws what the file system throws. */
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
