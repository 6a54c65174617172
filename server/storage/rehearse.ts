// The rehearsal of a storage: it takes a small object, gives it back and lets it go, unless its bucket locks whatever it gets.
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { ObjectLocked, StorageError, type Storage } from "./storage.ts";

type Rehearsal = {
  /** What is to be known of the storage. */
  details: string[];
  /** Until when the object stays, because the storage locks whatever it gets; null = it is gone. */
  keptUntil: Date | null;
};

/** @param folder where the object is for a moment, as in a key @throws StorageError */
export async function rehearseStorage(
  storage: Storage,
  folder: string,
  signal: AbortSignal,
): Promise<Rehearsal> {
  const details = (await storage.locks?.check({ signal })) ?? [];
  const key = `${folder}/rehearsal-${randomBytes(6).toString("hex")}`;
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
}
