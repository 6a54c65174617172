// Names of the two objects of a stored backup, the file and its manifest, which are always removed together.
import type { Storage } from "../storage/storage.ts";

const manifestEnding = ".json";

/** Before `.zst` in the name of a file that holds what has changed since a full. */
export const patchEnding = ".patch";

/** Of a stored backup, or of its manifest with `.json` at its end. */
export const storedFile = /\.(?:dump|sql|sqlite|tar)(?:\.patch)?\.zst(?:\.age)?$/;
export const storedFileManifest = /\.(?:dump|sql|sqlite|tar)(?:\.patch)?\.zst(?:\.age)?\.json$/;

export const isPatch = (key: string): boolean => /\.patch\.zst(?:\.age)?$/.test(key);

export const manifestKeyOf = (key: string): string => `${key}${manifestEnding}`;

/** @returns the key of the file that a manifest of this name would be of; null where it cannot be a manifest's */
export const keyOfManifest = (key: string): string | null =>
  key.endsWith(manifestEnding) ? key.slice(0, -manifestEnding.length) : null;

/**
 * Removes the manifest first, because a file without one is still a valid backup, as of an older version.
 * @throws StorageError
 */
export async function removeStored(storage: Storage, key: string): Promise<void> {
  await storage.remove(manifestKeyOf(key));
  await storage.remove(key);
}
