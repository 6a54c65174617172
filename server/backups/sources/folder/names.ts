// The names of a folder's entries as a stream for tar, and what was found on the way: read as the site's account.
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { defineTask } from "../../../hosts/task.ts";
import { showName, walkFolder } from "./walk.ts";
import { SourceError } from "../source.ts";
import { folderTasks } from "./tasks.ts";
import { toError } from "../../../to-error.ts";

/** Names that wait for tar. */
const waitingBytes = 16 * 1024;

/** What is noted of an entry while the walk goes on, as a line of JSON. */
export type NameNote =
  | { kind: "vanished" | "socket" | "device"; name: string }
  | { kind: "closed"; name: string; reason: string };

/** Writes the names, a NUL behind each, and says a note for what tar cannot take. */
export const listNames = defineTask(
  folderTasks,
  "listNames",
  async (root: string, { output, say, signal }): Promise<void> => {
    const note = (told: NameNote) => say(JSON.stringify(told));
    const names = Readable.from(namesOf(root, note), {
      objectMode: false,
      highWaterMark: waitingBytes,
    });
    await pipeline(names, output, { signal, end: false });
  },
);

async function* namesOf(root: string, note: (told: NameNote) => void): AsyncGenerator<Buffer> {
  const lots = walkFolder(root, (name, { code, message }) => {
    const shown = showName(name);
    if (code === "ENOENT" || code === "ENOTDIR") note({ kind: "vanished", name: shown });
    else
      note({
        kind: "closed",
        name: shown,
        reason: code === "EACCES" ? "Permission denied" : message,
      });
  });
  for await (const lot of lots) {
    const names: Buffer[] = [];
    for (const { name, kind } of lot) {
      if (kind === "socket" || kind === "device") note({ kind, name: showName(name) });
      else names.push(name, endOfName);
    }
    if (names.length > 0) yield Buffer.concat(names);
  }
}

const endOfName = Buffer.from([0]);

/**
 * Tells one folder from another that is put in its place: all names of a folder that was removed or swapped vanish
 * alike, and that must not pass for a folder that is nearly empty. @throws SourceError
 */
export const identifyFolder = defineTask(
  folderTasks,
  "identifyFolder",
  async (root: string): Promise<string> => {
    try {
      const { dev, ino } = await stat(root);
      return `${dev}:${ino}`;
    } catch (error) {
      throw new SourceError(`${root} cannot be read: ${toError(error).message}.`);
    }
  },
);
