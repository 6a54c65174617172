// A folder for what a test's databases write: files made, synced and deleted by the thousand, which a disk is slow at.
import { mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Several times what all databases of a run take together. */
const minFreeBytes = 4 * 1024 ** 3;

/**
 * Makes a new folder in memory, or among the system's temporary ones where there is too little of it.
 * @param prefix what its name begins with
 */
export async function makeMemoryFolder(prefix: string): Promise<string> {
  const memory = "/dev/shm";
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return mkdtemp(join(free < minFreeBytes ? tmpdir() : memory, prefix));
}
