// What reading and writing past the system's memory needs.
import { toError } from "../to-error.ts";

const wasmPageBytes = 64 * 1024;

/** Memory that begins at a page, which no buffer of Node's promises; that of WebAssembly does. */
export const alignedMemory = (bytes: number): Buffer =>
  Buffer.from(new WebAssembly.Memory({ initial: bytes / wasmPageBytes }).buffer);

/** Whether a file system says that it cannot do without the system's memory, e.g. one in memory. */
export function isNotDirect(error: unknown): boolean {
  const { code } = toError(error);
  return code === "EINVAL" || code === "EOPNOTSUPP" || code === "ENOTSUP";
}
