// Replaces the SQLite databases in a tar archive by copies that SQLite made, because what tar reads of a database in use is not
// consistent.
import {
  companionEnds,
  databaseBeside,
  hasSqliteHeader,
  sqliteHeaderBytes,
} from "../sqlite/header.ts";
import { readEntry, rewriteHead, type Entry } from "./entries.ts";
import { padding } from "./tar-header.ts";
import { SourceError } from "../source.ts";

export type DatabaseCopy = {
  sizeBytes: number;
  /** Sends the copy, piece by piece, and removes it. */
  send(take: (piece: Buffer) => Promise<void>): Promise<void>;
};

/** Paths are as archived, one character per byte. */
export type SiteDatabases = {
  /** @returns a consistent copy, or null where SQLite cannot open the file, whose bytes are archived then. @throws SourceError */
  copy(path: string): Promise<DatabaseCopy | null>;
  /** Whether the path is a database that SQLite can open. @throws SourceError */
  isDatabase(path: string): Promise<boolean>;
  /** Whether there is a log beside the database of this name; SQLite would not find it by another hard link. @throws SourceError */
  hasLog(path: string): Promise<boolean>;
};

export function createRewriter(
  databases: SiteDatabases,
  emit: (piece: Buffer) => Promise<void>,
): { take(piece: Buffer): Promise<void>; end(): Promise<void> } {
  let carried = Buffer.alloc(0);
  let skipBytes = 0;
  let isDropping = false;
  /** Whether the rest is passed on unchanged: the end of the archive was reached, or an unknown header. */
  let isPlain = false;
  /** Paths of entries that belong to a replaced database and are left out. */
  const dropped = new Set<string>();
  const copied = new Set<string>();

  const isLeftOut = async ({ path, type, target }: Entry): Promise<boolean> => {
    if (type === "1" && dropped.has(target)) return true;
    const database = type === "0" || type === "1" ? databaseBeside(path) : null;
    return database !== null && (copied.has(database) || (await databases.isDatabase(database)));
  };

  /** @returns null where more of the archive is needed to decide */
  async function findCopy(entry: Entry, piece: Buffer): Promise<DatabaseCopy | "none" | null> {
    const { path, type, target, isSparse, contentAt, contentBytes } = entry;
    if (type === "1") {
      if (!copied.has(target) || !(await databases.hasLog(path))) return "none";
    } else if (type !== "0" || contentBytes === 0) return "none";
    else if (!isSparse) {
      if (piece.length - contentAt < sqliteHeaderBytes) return null;
      if (!hasSqliteHeader(piece.subarray(contentAt))) return "none";
    } else if (!(await databases.isDatabase(path))) return "none";
    const copy = await databases.copy(path);
    if (copy !== null) copied.add(path);
    else if (companionEnds.some((end) => dropped.has(`${path}${end}`)))
      throw new SourceError(
        `${path} is a SQLite database that was exchanged while it was read. Run the backup again.`,
      );
    return copy ?? "none";
  }

  async function exchange(entry: Entry, copy: DatabaseCopy): Promise<void> {
    await emit(rewriteHead(entry, copy.sizeBytes));
    let sentBytes = 0;
    await copy.send(async (piece) => {
      sentBytes += piece.length;
      await emit(piece);
    });
    if (sentBytes !== copy.sizeBytes)
      throw new SourceError(
        `The copy of ${entry.path} has ${sentBytes} bytes and should have ${copy.sizeBytes}.`,
      );
    const rest = padding(copy.sizeBytes);
    if (rest.length > 0) await emit(rest);
  }

  return {
    /** @param fresh its memory may be reused once this resolves */
    async take(fresh) {
      const piece = carried.length === 0 ? fresh : Buffer.concat([carried, fresh]);
      carried = Buffer.alloc(0);
      /** Start of the bytes before `at` that are not passed on yet. */
      let from = 0;
      let at = 0;
      const passOn = async (): Promise<void> => {
        if (at > from) await emit(piece.subarray(from, at));
        from = at;
      };
      while (at < piece.length && !isPlain) {
        if (skipBytes > 0) {
          const bytes = Math.min(skipBytes, piece.length - at);
          if (isDropping) await passOn();
          at += bytes;
          skipBytes -= bytes;
          if (isDropping) from = at;
          continue;
        }
        const entry = readEntry(piece, at);
        if (entry === "other") {
          isPlain = true;
          break;
        }
        const copy = entry === "part" ? null : await findCopy(entry, piece);
        if (entry === "part" || copy === null) {
          await passOn();
          carried = Buffer.from(piece.subarray(at));
          return;
        }
        isDropping = copy !== "none" || (await isLeftOut(entry));
        if (isDropping) await passOn();
        if (copy !== "none") await exchange(entry, copy);
        else if (isDropping) dropped.add(entry.path);
        at = entry.contentAt;
        skipBytes = entry.contentBytes;
        if (isDropping) from = at;
      }
      at = piece.length;
      await passOn();
    },

    /** Emits bytes that were held back, of a truncated archive. */
    async end() {
      if (carried.length > 0) await emit(carried);
    },
  };
}
