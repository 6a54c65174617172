// A file that has no name: no other account can open it, and it is gone with whoever holds it open.
import { randomUUID } from "node:crypto";
import { open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Writable } from "node:stream";
import { callbackify } from "node:util";
import { toError } from "../../to-error.ts";

/** The content has no room in the file or on its disk. */
export class NoRoom extends Error {
  override name = "NoRoom";
}

export type UnnamedFile = {
  /** For a program that reads it. */
  fd: number;
  /** So much was written. */
  sizeBytes(): number;
  /**
   * Writes on, each piece before its write is done. It fails with `NoRoom` at the limit, or on a full disk.
   * @param onPiece called after each piece
   */
  writer(options?: { limitBytes?: number; onPiece?(): void }): Writable;
  /** From its beginning. */
  read(): Readable;
  close(): Promise<void>;
};

const pieceBytes = 1024 * 1024;
const fullDisk = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** @param folder of the service's account, on the disk that takes the content */
export async function openUnnamedFile(folder: string): Promise<UnnamedFile> {
  // A service that is killed before the name is gone leaves it to the next start, which removes what begins so.
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

/** Bytes that may still be written in a folder. */
export async function freeBytesIn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
