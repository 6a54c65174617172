// The names of stored files.
import { StorageError } from "./storage.ts";

/** @returns the folders above an object, and its own name last. @throws StorageError where it would lead elsewhere */
export function partsOfKey(key: string): string[] {
  const parts = key.split("/");
  if (key.includes("\0") || parts.some((part) => part === "" || part === "." || part === ".."))
    throw new StorageError(`“${key}” isn't a valid name for a stored file.`);
  return parts;
}

/** A piece that is being written; no object has such a name. */
export const partial = (name: string): string => `${name}.partial`;

export const isThereAlready = (path: string): StorageError =>
  new StorageError(`${path} is there already.`);

export const isGone = (path: string): StorageError => new StorageError(`${path} no longer exists.`);

export const leadsOut = (folder: string, root: string): StorageError =>
  new StorageError(`${folder} is outside ${root}: it leads through a symbolic link.`);
