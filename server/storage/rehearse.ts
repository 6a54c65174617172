// The rehearsal of a storage: it takes a small object, gives it back and lets it go.
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { StorageError, type Storage } from "./storage.ts";

/** @param folder where the object is for a moment, as in a key */
export async function rehearseStorage(
  storage: Storage,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const key = `${folder}/rehearsal-${randomBytes(6).toString("hex")}`;
  const content = randomBytes(64);
  try {
    await storage.put(key, Readable.from([content]), { signal });
    const read: Buffer[] = [];
    for await (const chunk of await storage.get(key, { signal })) read.push(chunk);
    if (!Buffer.concat(read).equals(content))
      throw new StorageError(`${storage.place} returned other data than was written to it.`);
  } finally {
    await storage.remove(key);
  }
}
