// Writes a file to its disk, past the memory in which the system keeps what is written. What is stored is read back from the
// disk at once, so nobody needs it there, and to keep it takes ten times the processor time of writing it.
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { alignedMemory, isNotDirect } from "./direct.ts";

/** Large, since each write waits for the disk. */
const slabBytes = 4 * 1024 * 1024;

type FileWriter = {
  /** @returns once the piece may be used for something else; it may be still on its way to the disk */
  write(piece: Buffer): Promise<void>;
  /** What was written, from the beginning. */
  writtenBytes(): number;
  /** Writes what is left, and waits until the disk has all of it. */
  finish(): Promise<void>;
  /** In any case. */
  close(): Promise<void>;
};

/** @param path where nothing is yet */
export async function createFile(path: string): Promise<FileWriter> {
  // What is no whole number of blocks cannot be written directly.
  const plain = await open(path, "wx", 0o600);
  let direct = await openDirect(path).catch(async (error: unknown) => {
    await plain.close();
    throw error;
  });
  let filling = alignedMemory(slabBytes);
  let filled = 0;
  let other = alignedMemory(slabBytes);
  let writtenBytes = 0;
  /** Of the other slab. */
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
      // Some file systems say it here only.
      if (writtenBytes > 0 || !isNotDirect(error)) throw error;
      await direct.close();
      direct = null;
      await writeAll(plain, memory);
    }
  }

  async function handOver(): Promise<void> {
    await writing;
    writing = writeSlab(filling.subarray(0, filled));
    // Told by whoever hands over next.
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

/** @returns null where the file system cannot do that */
async function openDirect(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_WRONLY | constants.O_DIRECT);
  } catch (error) {
    if (isNotDirect(error)) return null;
    throw error;
  }
}
