// Keys of stored objects, and errors about them.
import { StorageError } from "./storage.ts";

/**
 * Splits a key into the names of its folders and, last, of the object.
 * @throws StorageError where the key is invalid or would leave the storage
 */
export function partsOfKey(key: string): string[] {
  const parts = key.split("/");
  if (key.includes("\0") || parts.some((part) => part === "" || part === "." || part === ".."))
    throw new StorageError(`“${key}” isn't a valid name for a stored file.`);
  return parts;
}

/** Returns the name of an object that is still being written; no key ends like that. */
export const partial = (name: string): string => `${name}.partial`;

export const isThereAlready = (path: string): StorageError =>
  new StorageError(`${path} is there already.`);

export const isGone = (path: string): StorageError => new StorageError(`${path} no longer exists.`);

export const leadsOut = (folder: string, root: string): StorageError =>
  new StorageError(`${folder} is outside ${root}: it leads through a symbolic link.`);
