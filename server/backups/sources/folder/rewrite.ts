// Passes a tar archive on, with the SQLite databases in it exchanged for copies that SQLite itself made: the bytes that
// tar reads of a database which is written to are of no one moment.
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
  /** Hands the copy on, piece by piece, and removes it. */
  send(take: (piece: Buffer) => Promise<void>): Promise<void>;
};

/** Paths are as archived, one character a byte. */
export type SiteDatabases = {
  /** @returns a copy of one moment, or null where SQLite cannot open the file: its bytes are kept then. @throws SourceError */
  copy(path: string): Promise<DatabaseCopy | null>;
  /** Whether a database that SQLite can open is there. @throws SourceError */
  isDatabase(path: string): Promise<boolean>;
  /** Whether a log lies beside it under this name, which SQLite would not look for under another. @throws SourceError */
  hasLog(path: string): Promise<boolean>;
};

export function createRewriter(
  databases: SiteDatabases,
  emit: (piece: Buffer) => Promise<void>,
): { take(piece: Buffer): Promise<void>; end(): Promise<void> } {
  let carried = Buffer.alloc(0);
  let skipBytes = 0;
  let isDropping = false;
  /** From here on it is passed on as it is: the archive's end, or nothing that is understood. */
  let isPlain = false;
  /** What belongs to a database that was exchanged: its names are no entries any more. */
  const dropped = new Set<string>();
  const copied = new Set<string>();

  const isLeftOut = async ({ path, type, target }: Entry): Promise<boolean> => {
    if (type === "1" && dropped.has(target)) return true;
    const database = type === "0" || type === "1" ? databaseBeside(path) : null;
    return database !== null && (copied.has(database) || (await databases.isDatabase(database)));
  };

  /** @returns null where the piece ends too early to tell */
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
    /** @param fresh its memory may be used again once this resolves */
    async take(fresh) {
      const piece = carried.length === 0 ? fresh : Buffer.concat([carried, fresh]);
      carried = Buffer.alloc(0);
      /** What comes before `at` is to be passed on from here. */
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

    /** What was held back, of an archive that broke off. */
    async end() {
      if (carried.length > 0) await emit(carried);
    },
  };
}
