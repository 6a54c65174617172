// Creates, lists and removes folders below the folder of a storage, while others remove and create them.
import type { Dirent } from "node:fs";
import { mkdir, readdir, realpath, rmdir, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { StoredObject } from "./storage.ts";
import { syncFolder } from "../sync-folder.ts";
import { toError } from "../to-error.ts";

/** Attempts to work in a folder that others remove meanwhile. */
const maxTries = 10;

export const isMissing = (error: unknown) => toError(error).code === "ENOENT";

export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`);
}

/** Creates something in a folder, again where a removal deleted the folder while it was empty. */
export async function createIn<Created>(
  root: string,
  folder: string,
  create: () => Promise<Created>,
): Promise<Created> {
  for (let tries = 1; ; tries++)
    try {
      await makeFolders(root, folder);
      return await create();
    } catch (error) {
      if (!isMissing(error) || tries === maxTries) throw error;
    }
}

/** Creates folders below the root, and never the root. Each new one is synced in its parent, so that it survives a power failure. */
async function makeFolders(root: string, folder: string): Promise<void> {
  let made = await realpath(root);
  for (const part of relative(made, folder).split(sep).filter(Boolean)) {
    const parent = made;
    made = join(parent, part);
    const isNew = await mkdir(made, { mode: 0o700 }).then(
      () => true,
      (error: unknown) => {
        if (toError(error).code === "EEXIST") return false;
        throw error;
      },
    );
    if (isNew) await syncFolder(parent);
  }
}

/** @param above prefix of the keys, with a trailing slash unless it is empty */
export async function* listFolder(
  folder: string,
  above: string,
  signal: AbortSignal,
): AsyncGenerator<StoredObject> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    // A folder may be removed meanwhile, but not the storage itself.
    if (above !== "" && isMissing(error)) return [];
    throw error;
  });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    signal.throwIfAborted();
    const path = join(folder, entry.name);
    const key = `${above}${entry.name}`;
    if (entry.isDirectory()) yield* listFolder(path, `${key}/`, signal);
    else if (entry.isFile()) {
      const found = await stat(path).catch((error: unknown) => {
        // The file was removed meanwhile.
        if (isMissing(error)) return null;
        throw error;
      });
      if (found !== null) yield { key, sizeBytes: found.size };
    }
  }
}

/** Removes empty folders up to the root, which stays. */
export async function removeEmpty(root: string, folder: string): Promise<void> {
  for (let empty = folder; empty !== root && isInside(root, empty); empty = dirname(empty)) {
    const entries: Dirent[] | null = await readdir(empty, { withFileTypes: true }).catch(
      () => null,
    );
    if (entries !== null && entries.length > 0) return;
    // A folder that is used again meanwhile is not empty, and stays.
    await rmdir(empty).catch(() => undefined);
  }
}
