// Locks what a run or a copy has stored, and the full that it needs, for as long as its storage provider says.
import { utcText } from "../../../contract/values.ts";
import { type Storage, StorageError } from "../../storage/storage.ts";
import type { BackupRow } from "../backup-store.ts";
import { failureMessage } from "../failure-message.ts";
import { manifestKeyOf } from "../stored-file.ts";

const dayMs = 24 * 3_600_000;

type Stored = {
  storage: Storage;
  /** Of the file, which has been verified: what failed is never locked. */
  path: string;
  /** The full that it needs; null = it is one. */
  base: Pick<BackupRow, "id" | "path"> | null;
  at: Date;
};

export type Locked = {
  /** Until when the file is locked, as its storage says; null = it is not. */
  until: Date | null;
  /** What is not as the inventory wants it; null = all is. */
  warning: string | null;
};

/**
 * Locks the file, its manifest and the full: nothing opens the one without the other. A bucket that locks by itself is asked for how
 * long it does. A failure is a warning, since the backup is stored all the same.
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

/** Of a backup that its storage does not let go yet. @param storage its name */
export const lockedMessage = (storage: string, until: Date): string =>
  `Locked in ${storage} until ${utcText(until)}. It can be deleted after that.`;

/** @param at when it is to be deleted */
export const isLocked = (
  { locked_until: until = null }: Partial<Pick<BackupRow, "locked_until">>,
  at: Date,
): boolean => until !== null && until > at;
