// The folders of a storage over SFTP: found and created on the way to an object, and removed once they are empty.
import type { Readable } from "node:stream";
import { isFile, isFolder, isStatus, type Entry, type SftpFiles } from "../ssh/sftp/files.ts";
import { statuses } from "../ssh/sftp/packets.ts";
import { diagnoseLine } from "./disk-errors.ts";
import { leadsOut, partsOfKey } from "./object-key.ts";
import { StorageError, type StoredObject } from "./storage.ts";

/** Attempts to work in a folder that others remove meanwhile. */
const maxTries = 10;

/** @param disk the storage and its account, for messages */
export function createSftpFolders(root: string, disk: { place: string; account: string }) {
  /** @returns the path of what these names lead to */
  const below = (...parts: string[]) => [root === "/" ? "" : root, ...parts].join("/");

  /** @returns the real path of the storage. @throws StorageError where it is not a folder */
  async function enter(files: SftpFiles): Promise<string> {
    const found = await files.stat(root);
    if (found === null || !isFolder(found))
      throw (
        diagnoseLine(found === null ? "No such file or directory" : "Not a directory", disk) ??
        new StorageError(disk.place)
      );
    return files.realpath(root);
  }

  /**
   * Follows the folders above an object, never out of the storage.
   * @param isMade creates missing folders
   * @returns the path of the object; null where a folder is missing
   */
  async function locate(files: SftpFiles, key: string, isMade = false): Promise<string | null> {
    const parts = partsOfKey(key);
    const real = await enter(files);
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = below(...parts.slice(0, depth));
      if ((await files.stat(folder)) === null) {
        if (!isMade) return null;
        // Another run may have created it meanwhile.
        await files.mkdir(folder).catch(async (error: unknown) => {
          if ((await files.stat(folder)) === null) throw error;
        });
      }
      const leads = await files.realpath(folder);
      if (!`${leads}/`.startsWith(real === "/" ? "/" : `${real}/`))
        throw leadsOut(folder, disk.place);
    }
    return below(...parts);
  }

  /** Creates the folder of an object and runs work in it, again where a removal deleted the folder while it was empty. */
  async function inFolder(
    files: SftpFiles,
    { key, content }: { key: string; content: Readable },
    work: () => Promise<void>,
  ): Promise<void> {
    for (let tries = 1; ; tries++)
      try {
        await locate(files, key, true);
        return await work();
      } catch (error) {
        const isRemoved = isStatus(error, statuses.noFile) && !content.readableDidRead;
        if (!isRemoved || tries === maxTries) throw error;
      }
  }

  /** Removes the folders above an object that are empty. */
  async function removeEmpty(files: SftpFiles, parts: readonly string[]): Promise<void> {
    for (let above = parts.slice(0, -1); above.length > 0; above = above.slice(0, -1))
      try {
        await files.rmdir(below(...above));
      } catch {
        // It is not empty, or is gone.
        return;
      }
  }

  /** @param parts names of the folders on the way; none = the storage itself */
  async function* listBelow(
    files: SftpFiles,
    parts: readonly string[],
  ): AsyncGenerator<StoredObject> {
    const entries: Entry[] = await Array.fromAsync(files.list(below(...parts))).catch(
      (error: unknown) => {
        // A folder may be removed meanwhile, but not the storage itself.
        if (parts.length > 0 && isStatus(error, statuses.noFile)) return [];
        throw error;
      },
    );
    for (const { name, attributes } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
      if (isFolder(attributes)) yield* listBelow(files, [...parts, name]);
      else if (isFile(attributes))
        yield { key: [...parts, name].join("/"), sizeBytes: attributes.sizeBytes ?? 0 };
  }

  return { below, enter, locate, inFolder, removeEmpty, listBelow };
}
