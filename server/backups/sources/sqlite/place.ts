// Restores a checked file into a live SQLite database, so that the state after a kill can be determined.
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { copy, open } from "./copy.ts";

export type PlaceState = "as it was" | "restored" | "unknown";

export type Place = {
  from: string;
  to: string;
  /**
   * A file with the target's schema version, written before the first change. The online backup increments the version in its own
   * transaction, and nothing decrements it, so that a target that still has it was not changed.
   */
  note: string;
};

export async function place({ from, to, note }: Place, busyMs: number): Promise<void> {
  const live = await readLive(to, busyMs);
  // A database in WAL mode cannot change its page size, but the restored file can.
  if (live.isWal) fitPages(from, live.pageBytes, busyMs);
  writeNote(note, String(live.schemaVersion));
  await copy(from, to, busyMs);
}

async function readLive(path: string, busyMs: number) {
  const database = open(path, false, busyMs);
  const ask = (pragma: string) =>
    Object.values(database.prepare(`pragma ${pragma}`).get() ?? {})[0];
  try {
    // Waits for writers. A database that cannot be written to fails here, before anything is changed.
    database.exec("begin immediate; rollback");
    return {
      isWal: ask("journal_mode") === "wal",
      pageBytes: Number(ask("page_size")),
      schemaVersion: Number(ask("schema_version")),
    };
  } finally {
    database.close();
  }
}

function fitPages(path: string, pageBytes: number, busyMs: number): void {
  const database = open(path, false, busyMs);
  const fitted = `${path}-fitted`;
  try {
    if (Number(database.prepare("pragma page_size").get()?.["page_size"]) === pageBytes) return;
    rmSync(fitted, { force: true });
    database.exec(`pragma page_size = ${pageBytes}`);
    // Unlike a plain `vacuum`, this keeps the rowids of tables without an integer primary key.
    database.prepare("vacuum into ?").run(fitted);
  } finally {
    database.close();
  }
  // The logs of the old file must not be applied to the new one.
  for (const end of ["-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
  renameSync(fitted, path);
}

/** Returns the path of a note until it is written completely. */
export const unwritten = (note: string) => `${note}-new`;

/** Writes a note atomically: an empty one would mean that the change has begun, without the version before it. */
export function writeNote(note: string, text: string): void {
  const file = openSync(unwritten(note), "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(unwritten(note), note);
}

/** @param scratch path for a temporary copy of the live database */
export async function tellState(
  { from, to, note, scratch }: Place & { scratch: string },
  busyMs: number,
): Promise<PlaceState> {
  const noted = await readFile(note, "utf8");
  const live = await readLive(to, busyMs);
  if (noted === String(live.schemaVersion)) return "as it was";
  // A copy, because opening and closing a live database's file by other means than SQLite's releases SQLite's locks on it,
  // see https://www.sqlite.org/howtocorrupt.html.
  await copy(to, scratch, busyMs);
  return isSameContent(from, scratch) ? "restored" : "unknown";
}

const chunkBytes = 1024 * 1024;
/** Ranges of the header that every copy sets: journal mode, change counter and size, schema version, writer. */
export const ownOfEach = [
  [18, 20],
  [24, 32],
  [40, 44],
  [92, 100],
] as const;
/** Offset of the page for SQLite's locks, without content; see https://www.sqlite.org/fileformat.html#the_lock_byte_page. */
export const lockChunkAt = 0x40000000;
/** Maximum size of that page. */
export const lockPageBytes = 64 * 1024;

/** Compares two files. Both are in rollback mode or checkpointed, so that none of their content is in a journal. */
function isSameContent(one: string, other: string): boolean {
  const files = [openSync(one, "r"), openSync(other, "r")] as const;
  const buffers = [Buffer.alloc(chunkBytes), Buffer.alloc(chunkBytes)] as const;
  try {
    for (let at = 0; ; at += chunkBytes) {
      const [length, otherLength] = [
        readFully(files[0], buffers[0], at),
        readFully(files[1], buffers[1], at),
      ];
      if (length !== otherLength) return false;
      if (length === 0) return true;
      if (at === 0)
        for (const buffer of buffers) for (const [from, to] of ownOfEach) buffer.fill(0, from, to);
      // The rest of the chunk is compared.
      if (at === lockChunkAt) for (const buffer of buffers) buffer.fill(0, 0, lockPageBytes);
      if (!buffers[0].subarray(0, length).equals(buffers[1].subarray(0, length))) return false;
    }
  } finally {
    for (const file of files) closeSync(file);
  }
}

function readFully(file: number, into: Buffer, at: number): number {
  let length = 0;
  for (;;) {
    const read = readSync(file, into, length, into.length - length, at + length);
    length += read;
    if (read === 0 || length === into.length) return length;
  }
}
