// Holds the keys of encrypted backups whose restores wait or run, only in the memory of this instance.
import type { Clock } from "../clock.ts";
import { findFileKey, type GivenIdentity } from "../encryption/decrypt.ts";
import type { Storage } from "../storage/storage.ts";
import type { FileKeyPair } from "./incremental/chain.ts";
import type { BackupRow } from "./backup-store.ts";
import { longestWaitMs } from "./tasks/task-runner.ts";

export function createFileKeys(clock: Clock) {
  const held = new Map<string, { keys: FileKeyPair; forget: () => void }>();

  function take(taskId: string): FileKeyPair | null {
    const found = held.get(taskId);
    found?.forget();
    held.delete(taskId);
    return found?.keys ?? null;
  }

  return {
    /** Holds the keys for a new task. If the task is never stored, they are dropped after the longest wait. */
    keep(taskId: string, keys: FileKeyPair): void {
      const forget = clock.after(longestWaitMs, () => held.delete(taskId));
      held.set(taskId, { keys, forget });
    },

    /** @returns null where there are none, e.g. because another instance, or this one before a restart, had them */
    take,

    /** Drops the keys of a task that ended before it began. */
    drop: (taskId: string): void => void take(taskId),
  };
}

export type FileKeys = ReturnType<typeof createFileKeys>;

type Files = { row: Pick<BackupRow, "path">; base: Pick<BackupRow, "path"> | null };

/** Finds the keys of an encrypted backup and of the full that it needs. @throws like `findFileKey` */
export async function findFileKeys(
  storage: Storage,
  { row, base }: Files,
  given: GivenIdentity,
  signal: AbortSignal,
): Promise<FileKeyPair> {
  const keyOf = ({ path }: Pick<BackupRow, "path">) =>
    findFileKey(() => storage.get(path, { signal }), given);
  return { own: await keyOf(row), base: base === null ? null : await keyOf(base) };
}
