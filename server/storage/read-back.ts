// Reads a stored file back from its disk, bypassing the system's cache of recent writes.
import { constants } from "node:fs";
import { open, statfs, type FileHandle } from "node:fs/promises";
import { alignedMemory, isInMemory, isNotDirect } from "./direct.ts";
import type { ReadBack } from "./storage.ts";

const pieceBytes = 1024 * 1024;

/**
 * Uses direct I/O where the file system supports it, otherwise ordinary reads.
 * @param toWords translates errors
 */
export function readBackFile(
  path: string,
  { signal, fromByte = 0 }: { signal: AbortSignal; fromByte?: number | undefined },
  toWords: (error: unknown) => unknown,
): ReadBack {
  let isFromDisk = false;
  /** The memory of a piece is reused for the next one. */
  async function* read(): AsyncGenerator<Buffer> {
    const memory = alignedMemory(pieceBytes);
    let file = await openDirect(path, memory);
    isFromDisk = file !== null && !isInMemory(await statfs(path));
    file ??= await open(path, "r");
    try {
      for (let at = fromByte; ;) {
        signal.throwIfAborted();
        const { bytesRead } = await file.read(memory, 0, memory.length, at);
        if (bytesRead > 0) yield memory.subarray(0, bytesRead);
        at += bytesRead;
        // A direct read has to start at a block, so the first incomplete piece must be the last.
        if (bytesRead < memory.length) return;
      }
    } finally {
      await file.close();
    }
  }
  async function* readDiagnosed(): AsyncGenerator<Buffer> {
    try {
      yield* read();
    } catch (error) {
      throw toWords(error);
    }
  }
  return { kind: "read", isFromDisk: () => isFromDisk, content: readDiagnosed() };
}

/** Large, because a disk switches between writing and reading for each. */
const followedBytes = 4 * pieceBytes;
/** Number of last written bytes that are not read yet, because they may be incomplete. */
const leftBytes = 2 * followedBytes;

/**
 * Reads a file from its disk while it is still being written. `end` must be called in any case.
 * @param take called with each piece, from the beginning; never where the file system does not support direct I/O
 */
export function followFile(path: string, take: (piece: Buffer) => Promise<void>) {
  let takenBytes = 0;
  let writtenBytes = 0;
  let isOver = false;
  let following: Promise<void> | null = null;
  let opened: { file: FileHandle | null; memory: Buffer } | null = null;

  const isBehind = () => !isOver && writtenBytes - takenBytes >= leftBytes;

  async function follow(): Promise<void> {
    if (opened === null) {
      const memory = alignedMemory(followedBytes);
      opened = { memory, file: await openDirect(path, memory) };
    }
    const { file, memory } = opened;
    if (file === null) return;
    while (isBehind()) {
      const { bytesRead } = await file.read(memory, 0, memory.length, takenBytes);
      if (bytesRead < memory.length) break;
      takenBytes += bytesRead;
      await take(memory);
    }
  }

  return {
    reached(bytes: number): void {
      writtenBytes = bytes;
      if (!isBehind() || opened?.file === null) return;
      following ??= follow()
        // Errors end this early reading; reading the rest of the file finds and reports them.
        .catch(() => void (isOver = true))
        .finally(() => (following = null));
    },
    async end(): Promise<void> {
      isOver = true;
      await following;
      await opened?.file?.close();
    },
  };
}

/** @returns null where the file system does not support direct I/O, such as one in memory */
async function openDirect(path: string, memory: Buffer): Promise<FileHandle | null> {
  let file: FileHandle | null = null;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_DIRECT);
    await file.read(memory, 0, memory.length, 0);
    return file;
  } catch (error) {
    await file?.close();
    if (isNotDirect(error)) return null;
    throw error;
  }
}
