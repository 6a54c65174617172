// A file without a name: no other account can open it, and it vanishes when the process that has it open ends.
import { randomUUID } from "node:crypto";
import { open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Writable } from "node:stream";
import { callbackify } from "node:util";
import { toError } from "../../to-error.ts";

/** The content exceeds the limit of the file, or the free space of its disk. */
export class NoRoom extends Error {
  override name = "NoRoom";
}

export type UnnamedFile = {
  /** File descriptor, for a program that reads it. */
  fd: number;
  /** Number of bytes written so far. */
  sizeBytes(): number;
  /**
   * Returns a stream that appends; each write is done once its piece is written. Fails with `NoRoom` at the limit, or on a full disk.
   * @param onPiece called after each piece
   */
  writer(options?: { limitBytes?: number; onPiece?(): void }): Writable;
  /** Reads the file from its beginning. */
  read(): Readable;
  close(): Promise<void>;
};

const pieceBytes = 1024 * 1024;
const fullDisk = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** @param folder of the service's account, on the disk for the content */
export async function openUnnamedFile(folder: string): Promise<UnnamedFile> {
  // The next start removes files with this prefix, if the service is killed before the name is removed.
  const path = join(folder, `dump-${randomUUID()}`);
  const handle = await open(path, "wx+", 0o600);
  await rm(path);
  let bytes = 0;

  async function append(piece: Buffer, limitBytes: number): Promise<void> {
    if (bytes + piece.length > limitBytes) throw new NoRoom("The content is too large.");
    for (let at = 0; at < piece.length;) {
      const { bytesWritten } = await handle.write(piece, at, piece.length - at, bytes + at);
      at += bytesWritten;
    }
    bytes += piece.length;
  }

  return {
    fd: handle.fd,
    sizeBytes: () => bytes,
    writer({ limitBytes = Infinity, onPiece } = {}) {
      const write = callbackify(async (piece: Buffer) => {
        try {
          await append(piece, limitBytes);
          onPiece?.();
        } catch (error) {
          const { code = "" }: NodeJS.ErrnoException = toError(error);
          throw fullDisk.has(code) ? new NoRoom("The disk is full.", { cause: error }) : error;
        }
      });
      return new Writable({ write: (piece: Buffer, _encoding, done) => write(piece, done) });
    },
    read: () => handle.createReadStream({ start: 0, autoClose: false, highWaterMark: pieceBytes }),
    close: () => handle.close(),
  };
}

/** Returns the free bytes of a folder's disk. */
export async function freeBytesIn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
