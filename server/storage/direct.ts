// What reading and writing past the system's memory needs.
import type { StatsFs } from "node:fs";
import { toError } from "../to-error.ts";

const wasmPageBytes = 64 * 1024;

/** Memory that begins at a page, which no buffer of Node's promises; that of WebAssembly does. */
export const alignedMemory = (bytes: number): Buffer =>
  Buffer.from(new WebAssembly.Memory({ initial: bytes / wasmPageBytes }).buffer);

/** tmpfs and ramfs, by the numbers of statfs(2). Since Linux 6.6 a file of theirs can be read “directly”, from memory. */
const inMemory: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);

export const isInMemory = ({ type }: StatsFs): boolean => inMemory.has(type);

/** Whether a file system says that it cannot do without the system's memory, e.g. one in memory. */
export function isNotDirect(error: unknown): boolean {
  const { code } = toError(error);
  return code === "EINVAL" || code === "EOPNOTSUPP" || code === "ENOTSUP";
}
