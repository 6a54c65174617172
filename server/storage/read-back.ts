// Reads a stored file from its disk, past the memory in which the system keeps what was written just now.
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import type { ReadBack } from "./storage.ts";
import { toError } from "../to-error.ts";

const pieceBytes = 1024 * 1024;
const wasmPageBytes = 64 * 1024;

/** Direct reads want memory that begins at a page, which no buffer of Node's promises; that of WebAssembly does. */
const alignedMemory = (): Buffer =>
  Buffer.from(new WebAssembly.Memory({ initial: pieceBytes / wasmPageBytes }).buffer);

/** Directly where the file system can do that, else as it gives it. @param toWords of what goes wrong */
export function readBackFile(
  path: string,
  signal: AbortSignal,
  toWords: (error: unknown) => unknown,
): ReadBack {
  let isDirect = false;
  /** A piece's memory is used again for the next. */
  async function* read(): AsyncGenerator<Buffer> {
    const memory = alignedMemory();
    let file = await openDirect(path, memory);
    isDirect = file !== null;
    file ??= await open(path, "r");
    try {
      for (let at = 0; ;) {
        signal.throwIfAborted();
        const { bytesRead } = await file.read(memory, 0, memory.length, at);
        if (bytesRead > 0) yield memory.subarray(0, bytesRead);
        at += bytesRead;
        // A direct read has to begin at a block; a piece that is not full is the last.
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
  return { kind: "read", isFromDisk: () => isDirect, content: readDiagnosed() };
}

/** @returns null where the file system cannot read directly, e.g. one in memory */
async function openDirect(path: string, memory: Buffer): Promise<FileHandle | null> {
  let file: FileHandle | null = null;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_DIRECT);
    await file.read(memory, 0, memory.length, 0);
    return file;
  } catch (error) {
    await file?.close();
    const { code } = toError(error);
    if (code === "EINVAL" || code === "EOPNOTSUPP" || code === "ENOTSUP") return null;
    throw error;
  }
}
