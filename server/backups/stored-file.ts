// Names of the two objects of a stored backup, the file and its manifest, which are always removed together.
import type { Storage } from "../storage/storage.ts";

const manifestEnding = ".json";

/** Precedes `.zst` in the name of a file with the changes since a full backup. */
export const patchEnding = ".patch";

/** Matches the name of a stored backup, or of its manifest, which ends with `.json`. */
export const storedFile = /\.(?:dump|sql|sqlite|tar)(?:\.patch)?\.zst(?:\.age)?$/;
export const storedFileManifest = /\.(?:dump|sql|sqlite|tar)(?:\.patch)?\.zst(?:\.age)?\.json$/;

export const isPatch = (key: string): boolean => /\.patch\.zst(?:\.age)?$/.test(key);

export const manifestKeyOf = (key: string): string => `${key}${manifestEnding}`;

/** Returns the key of the file that a manifest belongs to; null if the key is not that of a manifest. */
export const keyOfManifest = (key: string): string | null =>
  key.endsWith(manifestEnding) ? key.slice(0, -manifestEnding.length) : null;

/**
 * Removes the manifest first, because a file without one is still a valid backup, as from an older version.
 * @throws StorageError
 */
export async function removeStored(storage: Storage, key: string): Promise<void> {
  await storage.remove(manifestKeyOf(key));
  await storage.remove(key);
}
