// Helpers for direct I/O, which bypasses the page cache.
import type { StatsFs } from "node:fs";
import { toError } from "../to-error.ts";

const wasmPageBytes = 64 * 1024;

/**
 * Returns memory that starts at a page boundary, as direct I/O requires. Node's buffers do not guarantee that; the memory of
 * WebAssembly does.
 */
export const alignedMemory = (bytes: number): Buffer =>
  Buffer.from(new WebAssembly.Memory({ initial: bytes / wasmPageBytes }).buffer);

/**
 * tmpfs and ramfs, by their magic numbers in statfs(2). Since Linux 6.6 their files can be opened for direct I/O, but are read
 * from memory.
 */
const inMemory: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);

export const isInMemory = ({ type }: StatsFs): boolean => inMemory.has(type);

/** Whether the error says that the file system does not support direct I/O, as file systems in memory do. */
export function isNotDirect(error: unknown): boolean {
  const { code } = toError(error);
  return code === "EINVAL" || code === "EOPNOTSUPP" || code === "ENOTSUP";
}
