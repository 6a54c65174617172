// Tries a storage as a backup will use it.
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { StorageError, type Storage } from "../storage/storage.ts";

/**
 * The storage takes a small object, gives it back and lets it go.
 * @param directory where, as a key with slashes
 * @throws StorageError
 */
export async function rehearseStorage(
  storage: Storage,
  directory: string,
  signal: AbortSignal,
): Promise<void> {
  const key = `${directory}/rehearsal-${randomBytes(6).toString("hex")}`;
  const content = randomBytes(64);
  // One that fails or is given up leaves nothing behind.
  await storage.put(key, Readable.from([content]), { signal });
  try {
    const read: Buffer[] = [];
    for await (const chunk of await storage.get(key, { signal })) read.push(chunk);
    if (!Buffer.concat(read).equals(content))
      throw new StorageError(`${storage.place} returned other data than was written to it.`);
  } finally {
    await storage.remove(key);
  }
}
