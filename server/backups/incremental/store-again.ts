// Stores the content of an earlier backup again, where the source has not changed since: that of the full, or the same changes.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isOfRun } from "../../../contract/backups/backup.ts";
import { isEncrypted } from "../../encryption/encrypt.ts";
import type { Storage } from "../../storage/storage.ts";
import type { BackupRow } from "../backup-store.ts";
import { storeDump, type Stored, type StoreOptions } from "../pipeline/store-dump.ts";
import { checkSize, openVerified } from "../pipeline/read-verified.ts";
import { makeSameContent, minSameBytes } from "./same-content.ts";
import type { Manifest } from "../sources/source.ts";
import type { Recipients } from "../recovery/stored-manifest.ts";
import { areSame, recipientsOf } from "../recovery/stored-recipients.ts";

type Facts = Pick<
  BackupRow,
  | "id"
  | "base_id"
  | "storage_provider_id"
  | "trigger"
  | "damage"
  | "checksum"
  | "manifest"
  | "plain_size"
  | "source_state"
>;

/**
 * @param finished backups of one configuration, newest first
 * @param base the full among them that changes are stored against
 * @param state the source's current state
 * @returns the full if the source has not changed since, or a backup that has the current changes; null = none
 */
export function findSame<Backup extends Facts>(
  finished: readonly Backup[],
  base: Backup,
  state: string | null,
): Backup | null {
  const isSame = (one: Backup) =>
    state !== null &&
    one.source_state === state &&
    one.damage === null &&
    one.checksum !== null &&
    one.manifest !== null;
  if (isSame(base) && base.plain_size >= minSameBytes) return base;
  return (
    finished.find(
      (one) =>
        isSame(one) &&
        one.base_id === base.id &&
        one.storage_provider_id === base.storage_provider_id &&
        isOfRun(one),
    ) ?? null
  );
}

/** Whether a backup is encrypted for the current recipients. */
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

type Again = Pick<StoreOptions, "storage" | "key" | "encrypt" | "pace" | "signal" | "onProgress">;

/**
 * Stores a backup's content again. A full is not read, because the new file refers to all of it. A file of changes is stored as it is,
 * encrypted or not, and verified while it is read.
 * @param row an earlier backup in the same storage
 * @throws DamagedBackup where it is damaged, or like `storeDump`
 */
export async function storeAgain(row: BackupRow, options: Again): Promise<Stored> {
  const { storage, encrypt = null } = options;
  const isFull = row.base_id === null;
  // Was stored as a manifest. The origin is not copied, because it is set again.
  const { origin: _, ...manifest } = row.manifest as Manifest & { origin?: unknown };
  return storeDump({
    ...options,
    encrypt: isFull ? encrypt : null,
    packedBytes: () => row.plain_size,
    async dump(into, signal) {
      // A missing file counts as damaged, too.
      await checkSize(storage, row, signal);
      const file = isFull
        ? Readable.from([makeSameContent(row.plain_size)])
        : await openVerified(storage, row, signal);
      await pipeline(file, into, { signal });
      return manifest;
    },
  });
}
