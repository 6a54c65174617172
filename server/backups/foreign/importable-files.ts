// The files of a storage that are none of Quarterdeck's own: what may be imported.
import { type ImportableFiles, maxImportableFiles } from "../../../contract/backups/import.ts";
import { markerName } from "../../storage/marker.ts";
import { StorageError, type ListedStorage, type StoredObject } from "../../storage/storage.ts";
import { recoveryName } from "../recovery/recovery-page.ts";
import { manifestKeyOf, storedFile } from "../stored-file.ts";

/** Of one look at a storage. */
const maxObjects = 200_000;
const listMs = 45_000;
const unlistable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
/** What is being written, and what requests have sent. */
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
  // A backup of ours has its manifest beside it.
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

/** @returns the size of a file that is there itself, and not by a link; null = there is none. @throws StorageError */
export async function findImportable(
  storage: ListedStorage,
  path: string,
  signal: AbortSignal,
): Promise<number | null> {
  // Nothing that a name leads to by a link is listed.
  for await (const { key, sizeBytes } of storage.list({ signal, prefix: path }))
    if (key === path) return sizeBytes;
  return null;
}
