// Stores the changes that an earlier backup holds once more, where the source has the content of then.
import { pipeline } from "node:stream/promises";
import { isOfRun } from "../../contract/backups/backup.ts";
import { isEncrypted } from "../encryption/encrypt.ts";
import type { Storage } from "../storage/storage.ts";
import type { BackupRow } from "./backup-store.ts";
import { checkSize, openVerified, storeDump, type Stored, type StoreOptions } from "./pipeline.ts";
import type { Manifest } from "./sources/source.ts";
import type { Recipients } from "./stored-manifest.ts";
import { areSame, recipientsOf } from "./stored-recipients.ts";

/**
 * @param finished backups of one configuration, newest first
 * @param state what the source says of itself now
 * @returns one that holds the changes from the full until now; null = there is none
 */
export const findSame = (
  finished: readonly BackupRow[],
  base: Pick<BackupRow, "id" | "storage_provider_id">,
  state: string | null,
): BackupRow | null =>
  finished.find(
    (one) =>
      state !== null &&
      one.source_state === state &&
      one.base_id === base.id &&
      one.storage_provider_id === base.storage_provider_id &&
      isOfRun(one) &&
      one.damage === null &&
      one.checksum !== null &&
      one.manifest !== null,
  ) ?? null;

/** Whether it is encrypted like what is stored now. */
export async function isSealedAlike(
  storage: Storage,
  row: BackupRow,
  recipients: Recipients | null,
  signal: AbortSignal,
): Promise<boolean> {
  if (recipients === null) return !isEncrypted(row.path);
  const its = await recipientsOf(storage, row, signal);
  return its !== null && areSame(its, recipients);
}

/**
 * The file is stored as it is, encrypted or not, and verified on the way.
 * @param row another one in the same storage
 * @throws DamagedCopy where it is not what was stored, or like `storeDump`
 */
export async function storeAgain(
  row: BackupRow,
  options: Pick<StoreOptions, "storage" | "key" | "pace" | "signal" | "onProgress">,
): Promise<Stored> {
  const { storage } = options;
  // What was written as a manifest is read as one. Where it came from is written anew.
  const { origin: _, ...manifest } = row.manifest as Manifest & { origin?: unknown };
  return storeDump({
    ...options,
    packedBytes: () => row.plain_size,
    async dump(into, signal) {
      // One that is missing is damage, too.
      await checkSize(storage, row, signal);
      await pipeline(await openVerified(storage, row, signal), into, { signal });
      return manifest;
    },
  });
}
