// Locks what a run or a copy has stored, and the full that it needs, for the period of its storage provider.
import { utcText } from "../../../contract/values.ts";
import { type Storage, StorageError } from "../../storage/storage.ts";
import type { BackupRow } from "../backup-store.ts";
import { failureMessage } from "../failure-message.ts";
import { manifestKeyOf } from "../stored-file.ts";

const dayMs = 24 * 3_600_000;

type Stored = {
  storage: Storage;
  /** Path of the verified file; the file of a failed run is never locked. */
  path: string;
  /** The full that it needs; null = it is a full. */
  base: Pick<BackupRow, "id" | "path"> | null;
  at: Date;
};

export type Locked = {
  /** Until when the file is locked according to its storage; null = it is not locked. */
  until: Date | null;
  /** Why the lock differs from the inventory's setting; null = it does not. */
  warning: string | null;
};

/**
 * Locks the file, its manifest and the full, because a restore needs all of them. For a bucket with a default lock, reads its period.
 * A failure is only a warning, because the backup is stored nevertheless.
 * @throws the signal's reason
 */
export async function lockStored(
  { storage, path, base, at }: Stored,
  signal: AbortSignal,
): Promise<Locked> {
  const { locks } = storage;
  if (locks === undefined) return { until: null, warning: null };
  let until: Date | null = null;
  try {
    until =
      locks.days === null
        ? await locks.until(path)
        : await locks.extend(path, new Date(at.getTime() + locks.days * dayMs), { signal });
    if (until === null)
      return locks.days === null
        ? { until, warning: null }
        : { until, warning: `Stored, but not locked: ${storage.place} doesn't say that it is.` };
    const others = [path, ...(base === null ? [] : [base.path])].map(manifestKeyOf);
    for (const key of base === null ? others : [base.path, ...others])
      await locks.extend(key, until, { signal });
    return { until, warning: null };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof StorageError)) throw error;
    const what = until === null ? "not locked" : "not all that it needs is locked";
    return { until, warning: `Stored, but ${what}: ${failureMessage(error)}` };
  }
}

/** Message for a backup that its storage still locks. @param storage name of the storage */
export const lockedMessage = (storage: string, until: Date): string =>
  `Locked in ${storage} until ${utcText(until)}. It can be deleted after that.`;

/** Whether a backup is locked at a moment. @param at moment of its deletion */
export const isLocked = (
  { locked_until: until = null }: Partial<Pick<BackupRow, "locked_until">>,
  at: Date,
): boolean => until !== null && until > at;
