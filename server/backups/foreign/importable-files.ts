// Lists the files of a storage that may be imported: those that are not Quarterdeck's own.
import { type ImportableFiles, maxImportableFiles } from "../../../contract/backups/import.ts";
import { markerName } from "../../storage/marker.ts";
import { StorageError, type ListedStorage, type StoredObject } from "../../storage/storage.ts";
import { recoveryName } from "../recovery/recovery-page.ts";
import { manifestKeyOf, storedFile } from "../stored-file.ts";

/** Limits of one listing of a storage. */
const maxObjects = 200_000;
const listMs = 45_000;
const unlistable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
/** Names of files that are being written, and of uploads. */
const unfinished = /\.(?:partial|upload)$/;

const isOwnName = (key: string): boolean => {
  const name = key.slice(key.lastIndexOf("/") + 1);
  return name === markerName || name === recoveryName || unfinished.test(name);
};

/** @throws StorageError, or the signal's reason */
export async function listImportable(
  storage: ListedStorage,
  prefix: string,
  outside: AbortSignal,
): Promise<ImportableFiles> {
  const late = AbortSignal.timeout(listMs);
  const signal = AbortSignal.any([outside, late]);
  const found: StoredObject[] = [];
  const keys = new Set<string>();
  let isComplete = true;
  try {
    for await (const one of storage.list({ signal, prefix })) {
      signal.throwIfAborted();
      if (keys.size === maxObjects) {
        isComplete = false;
        break;
      }
      keys.add(one.key);
      if (!isOwnName(one.key) && !unlistable.test(one.key)) found.push(one);
    }
  } catch (error) {
    outside.throwIfAborted();
    throw late.aborted
      ? new StorageError(
          `${storage.place} could not be listed within ${listMs / 1000} s. Type the beginning of the file's path.`,
        )
      : error;
  }
  // Our own backups have a manifest beside them.
  const manifests = new Set(
    [...keys].filter((key) => storedFile.test(key)).map((key) => manifestKeyOf(key)),
  );
  const foreign = found.filter(
    ({ key }) => !manifests.has(key) && !(storedFile.test(key) && keys.has(manifestKeyOf(key))),
  );
  return {
    files: foreign
      .slice(0, maxImportableFiles)
      .map(({ key, sizeBytes }) => ({ path: key, size: sizeBytes })),
    is_complete: isComplete && foreign.length <= maxImportableFiles,
  };
}

/** @returns the size of a file that exists and is not behind a link; null = there is none. @throws StorageError */
export async function findImportable(
  storage: ListedStorage,
  path: string,
  signal: AbortSignal,
): Promise<number | null> {
  // A listing does not follow links.
  for await (const { key, sizeBytes } of storage.list({ signal, prefix: path }))
    if (key === path) return sizeBytes;
  return null;
}
