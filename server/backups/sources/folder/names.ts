// Lists the names of a folder's entries for tar, with notes about those that tar cannot read. Runs as the site's account.
import { constants } from "node:fs";
import { open, stat } from "node:fs/promises";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { defineTask } from "../../../hosts/task.ts";
import { cacheSignature, cacheTag, createFilter } from "./excludes.ts";
import { pathBelow, showName, walkFolder, type WalkedEntry } from "./walk.ts";
import { SourceError, type Excludes } from "../source.ts";
import { folderTasks } from "./tasks.ts";
import { toError } from "../../../to-error.ts";

/** Buffer for names that wait for tar. */
const waitingBytes = 16 * 1024;

/** A note about an entry, which the task sends as a line of JSON. */
export type NameNote =
  | { kind: "vanished" | "socket" | "device"; name: string }
  | { kind: "closed"; name: string; reason: string }
  | { kind: "excluded"; names: string[]; entries: number };

/** Serializable, because it is sent to a process of the site's account. */
type Listing = { root: string; excludes: Excludes | null };

/** Number of excluded entries that are named in the output. */
const shownExcluded = 10;

/** Writes the names, each ended by a NUL, and sends a note for each entry that tar cannot archive. */
export const listNames = defineTask(
  folderTasks,
  "listNames",
  async ({ root, excludes }: Listing, { output, say, signal }): Promise<void> => {
    const note = (told: NameNote) => say(JSON.stringify(told));
    const names: string[] = [];
    let entries = 0;
    const leavesIn = leavesOf(root, excludes, ({ name }) => {
      entries += 1;
      if (entries <= shownExcluded) names.push(showName(name));
    });
    await send(namesOf(root, note, leavesIn), output, signal);
    if (entries > 0) note({ kind: "excluded", names, entries });
  },
);

/** Writes the names of excluded entries for a restore; for an excluded folder only its own name. */
export const listExcluded = defineTask(
  folderTasks,
  "listExcluded",
  async ({ root, excludes }: Listing, { output, signal }): Promise<void> => {
    await send(excludedNames(root, excludes), output, signal);
  },
);

async function* excludedNames(root: string, excludes: Excludes | null): AsyncGenerator<Buffer> {
  let found: Buffer[] = [];
  const leavesIn = leavesOf(root, excludes, ({ name }) => {
    if (!ownNames.test(name.toString("latin1"))) found.push(here, name, endOfName);
  });
  // A folder that cannot be read is replaced, as if nothing were excluded.
  const lots = walkFolder(root, () => undefined, leavesIn);
  for (;;) {
    const { done } = await lots.next();
    if (found.length > 0) yield Buffer.concat(found);
    found = [];
    if (done === true) return;
  }
}

const here = Buffer.from("./");

/** Folders that a restore itself creates at the top of a folder. */
const ownNames = /^\.quarterdeck-(?:new|ready|leaving|old)-\d+$/;

async function send(
  pieces: AsyncGenerator<Buffer>,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const names = Readable.from(pieces, { objectMode: false, highWaterMark: waitingBytes });
  await pipeline(names, output, { signal, end: false });
}

type WalkOptions = Parameters<typeof walkFolder>;

/** @param onLeft called for each excluded entry, but not for the content of an excluded folder */
function leavesOf(
  root: string,
  excludes: Excludes | null,
  onLeft: (entry: WalkedEntry) => void,
): WalkOptions[2] {
  if (excludes === null) return undefined;
  const isLeft = createFilter(excludes.patterns);
  return async (folder) => {
    const isCache = excludes.caches && folder.toString() !== "." && (await isTagged(root, folder));
    return (entry) => {
      const name = entry.name.toString("latin1");
      const leaves = isCache
        ? name.slice(name.lastIndexOf("/") + 1) !== cacheTag
        : isLeft(name, entry.kind === "folder");
      if (leaves) onLeft(entry);
      return leaves;
    };
  };
}

async function isTagged(root: string, folder: Buffer): Promise<boolean> {
  const path = Buffer.concat([pathBelow(root, folder), Buffer.from(`/${cacheTag}`)]);
  // A link is no tag, and opening a pipe would block.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await open(path, flags).catch(() => null);
  if (file === null) return false;
  try {
    if (!(await file.stat()).isFile()) return false;
    const { buffer } = await file.read(Buffer.alloc(cacheSignature.length), 0, null, 0);
    return buffer.toString("latin1") === cacheSignature;
  } finally {
    await file.close();
  }
}

async function* namesOf(
  root: string,
  note: (told: NameNote) => void,
  leavesIn: WalkOptions[2],
): AsyncGenerator<Buffer> {
  const onTrouble: WalkOptions[1] = (name, { code, message }) => {
    const shown = showName(name);
    if (code === "ENOENT" || code === "ENOTDIR") note({ kind: "vanished", name: shown });
    else
      note({
        kind: "closed",
        name: shown,
        reason: code === "EACCES" ? "Permission denied" : message,
      });
  };
  const lots = walkFolder(root, onTrouble, leavesIn);
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
 * Identifies a folder, so that a replaced one is noticed: all names of a folder that was removed or swapped vanish, and it must not be
 * taken for a folder that is nearly empty. @throws SourceError
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
