// Walks a tree of folders in constant memory, however many entries there are.
// Names are bytes: a name on Linux need not be valid UTF-8.
import type { Dir, Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { toError } from "../../../to-error.ts";

type EntryKind = "folder" | "file" | "link" | "fifo" | "socket" | "device";

export type WalkedEntry = {
  /** Below the root, without a leading slash; `.` is the root itself. */
  name: Buffer;
  kind: EntryKind;
};

/** `waiting`: subfolders that were found and are not entered yet. */
type OpenFolder = { name: Buffer; dir: Dir; waiting: Buffer[]; leaves: Leaves | null };

/** Whether an entry is excluded, with its content. */
type Leaves = (entry: WalkedEntry) => boolean;

type OnTrouble = (name: Buffer, error: NodeJS.ErrnoException) => void;

/** Entries are yielded in lots of this size, because a promise for each would cost more than reading it. */
const lotSize = 256;

/**
 * Yields a folder before its content. Links are not followed; file systems that are mounted below are entered.
 * Holds one open folder and one lot of names per level, never all names.
 * @param onTrouble called for a folder that cannot be read; the walk continues with the next one
 * @param leavesIn called for each folder that is entered; null = nothing in it is excluded
 */
export async function* walkFolder(
  root: string,
  onTrouble: OnTrouble,
  leavesIn: (folder: Buffer) => Promise<Leaves | null> = async () => null,
): AsyncGenerator<WalkedEntry[]> {
  const open: OpenFolder[] = [];
  const enter = async (name: Buffer) => {
    try {
      const dir = await openFolder(pathBelow(root, name));
      open.push({ name, dir, waiting: [], leaves: await leavesIn(name) });
    } catch (error) {
      onTrouble(name, toError(error));
    }
  };
  try {
    yield [{ name: top, kind: "folder" }];
    await enter(top);
    for (let folder = open.at(-1); folder !== undefined; folder = open.at(-1)) {
      const next = folder.waiting.pop();
      if (next !== undefined) {
        await enter(next);
        continue;
      }
      const found = await readLot(folder, onTrouble);
      if (found.length === 0) {
        open.pop();
        await folder.dir.close();
        continue;
      }
      const { leaves } = folder;
      const lot = leaves === null ? found : found.filter((entry) => !leaves(entry));
      if (lot.length > 0) yield lot;
      for (const { name, kind } of lot) if (kind === "folder") folder.waiting.push(name);
    }
  } finally {
    for (const { dir } of open) await dir.close().catch(() => undefined);
  }
}

const top = Buffer.from(".");
const slash = Buffer.from("/");

/** @returns the path as bytes, for Node's file functions */
export const pathBelow = (root: string, name: Buffer): Buffer =>
  Buffer.concat([Buffer.from(root), slash, name]);

/** Formats a name as tar does in its messages: on one line, in ASCII. */
export const showName = (name: Buffer): string =>
  name
    .toString("latin1")
    .replace(/\\/g, "\\\\")
    .replace(/\n/g, "\\n")
    .replace(/\t/g, "\\t")
    .replace(/\r/g, "\\r")
    .replace(/[^ -~]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);

const openFolder = (path: Buffer): Promise<Dir> =>
  // Node takes "buffer" here and documents it; its types know only the names of text encodings.
  opendir(path, { encoding: "buffer" as BufferEncoding, bufferSize: lotSize });

type FoundEntry = Omit<Dirent, "name"> & { name: Buffer };

/** @returns an empty lot at the end of the folder, or where it cannot be read further */
async function readLot(
  { name: above, dir }: OpenFolder,
  onTrouble: OnTrouble,
): Promise<WalkedEntry[]> {
  const lot: WalkedEntry[] = [];
  const { promise, resolve } = Promise.withResolvers<WalkedEntry[]>();
  const read = () => {
    dir.read((error, entry) => {
      if (error !== null) onTrouble(above, error);
      if (error !== null || entry === null) return resolve(lot);
      // Opened with encoding "buffer", so the name is one.
      const found = entry as unknown as FoundEntry;
      const name = above === top ? found.name : Buffer.concat([above, slash, found.name]);
      lot.push({ name, kind: kindOf(found) });
      return lot.length < lotSize ? read() : resolve(lot);
    });
  };
  read();
  return promise;
}

function kindOf(entry: FoundEntry): EntryKind {
  if (entry.isDirectory()) return "folder";
  if (entry.isFile()) return "file";
  if (entry.isSymbolicLink()) return "link";
  if (entry.isFIFO()) return "fifo";
  if (entry.isSocket()) return "socket";
  return "device";
}
