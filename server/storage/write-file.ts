// Writes a file with direct I/O, bypassing the page cache. What is stored is read back from the disk at once, so caching it is
// useless, and takes ten times the processor time of writing it.
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { alignedMemory, isNotDirect } from "./direct.ts";

/** Large, because each write waits for the disk. */
const slabBytes = 4 * 1024 * 1024;

type FileWriter = {
  /** Copies a piece; resolves once the caller may reuse its memory, possibly before the disk has the bytes. */
  write(piece: Buffer): Promise<void>;
  /** Number of bytes that were written, from the beginning of the file. */
  writtenBytes(): number;
  /** Writes the rest, and waits until all of it is on the disk. */
  finish(): Promise<void>;
  /** Must be called in any case. */
  close(): Promise<void>;
};

/** @param path must not exist yet */
export async function createFile(path: string): Promise<FileWriter> {
  // For the end of the file: direct I/O only writes whole blocks.
  const plain = await open(path, "wx", 0o600);
  let direct = await openDirect(path).catch(async (error: unknown) => {
    await plain.close();
    throw error;
  });
  let filling = alignedMemory(slabBytes);
  let filled = 0;
  let other = alignedMemory(slabBytes);
  let writtenBytes = 0;
  /** Settles when the other slab is written. */
  let writing = Promise.resolve();

  async function writeAll(file: FileHandle, memory: Buffer): Promise<void> {
    for (let at = 0; at < memory.length;) {
      const left = memory.length - at;
      const { bytesWritten } = await file.write(memory, at, left, writtenBytes);
      at += bytesWritten;
      writtenBytes += bytesWritten;
    }
  }

  async function writeSlab(memory: Buffer): Promise<void> {
    if (direct === null || memory.length < slabBytes) return writeAll(plain, memory);
    try {
      await writeAll(direct, memory);
    } catch (error) {
      // Some file systems report only here that they do not support direct I/O.
      if (writtenBytes > 0 || !isNotDirect(error)) throw error;
      await direct.close();
      direct = null;
      await writeAll(plain, memory);
    }
  }

  async function handOver(): Promise<void> {
    await writing;
    writing = writeSlab(filling.subarray(0, filled));
    // The next call that awaits `writing` reports the error.
    writing.catch(() => undefined);
    [filling, other] = [other, filling];
    filled = 0;
  }

  return {
    async write(piece) {
      for (let at = 0; at < piece.length;) {
        const taken = piece.copy(filling, filled, at);
        at += taken;
        filled += taken;
        if (filled === slabBytes) await handOver();
      }
    },
    writtenBytes: () => writtenBytes,
    async finish() {
      if (filled > 0) await handOver();
      await writing;
      await plain.sync();
    },
    async close() {
      await writing.catch(() => undefined);
      await direct?.close();
      await plain.close();
    },
  };
}

/** @returns null where the file system does not support direct I/O */
async function openDirect(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_WRONLY | constants.O_DIRECT);
  } catch (error) {
    if (isNotDirect(error)) return null;
    throw error;
  }
}
