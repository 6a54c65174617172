// Rehearses a storage: stores a small object, reads it back and deletes it, unless the bucket locks all objects.
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { ObjectLocked, StorageError, type Storage } from "./storage.ts";

type Rehearsal = {
  /** Notes about the storage for operators. */
  details: string[];
  /** Until when the object stays, because the bucket locks all objects; null = it was deleted. */
  keptUntil: Date | null;
};

/**
 * @param folder of the object, as in a key
 * @param attempt the same number when the rehearsal is repeated after a kill, which may have left the object; null = never
 * repeated
 * @throws StorageError
 */
export async function rehearseStorage(
  storage: Storage,
  { folder, attempt }: { folder: string; attempt: number | null },
  signal: AbortSignal,
): Promise<Rehearsal> {
  const details = (await storage.locks?.check({ signal })) ?? [];
  const key = await freeKey();
  const content = randomBytes(64);
  let keptUntil: Date | null = null;
  try {
    await storage.put(key, Readable.from([content]), { signal });
    const read: Buffer[] = [];
    for await (const chunk of await storage.get(key, { signal })) read.push(chunk);
    if (!Buffer.concat(read).equals(content))
      throw new StorageError(`${storage.place} returned other data than was written to it.`);
    if (storage.locks !== undefined && storage.locks.days !== null)
      await storage.locks.tryOn(key, { signal });
  } finally {
    await storage.remove(key).catch((error: unknown) => {
      if (!(error instanceof ObjectLocked)) throw error;
      keptUntil = error.until;
    });
  }
  return { details, keptUntil };

  async function freeKey(): Promise<string> {
    const random = `${folder}/rehearsal-${randomBytes(6).toString("hex")}`;
    if (attempt === null) return random;
    const left = `${folder}/rehearsal-${attempt}`;
    try {
      await storage.remove(left);
      return left;
    } catch (error) {
      if (error instanceof ObjectLocked) return random;
      throw error;
    }
  }
}
