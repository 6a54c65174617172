// The keys of encrypted backups whose restores wait or run: in memory, here alone, and no longer than that.
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
    /** For the task that is about to be stored; one that is not leaves it until it would have waited for too long. */
    keep(taskId: string, keys: FileKeyPair): void {
      const forget = clock.after(longestWaitMs, () => held.delete(taskId));
      held.set(taskId, { keys, forget });
    },

    /** @returns null where it never was, or another instance or an earlier life of this one had it */
    take,

    /** Of a task that is over before it has begun. */
    drop: (taskId: string): void => void take(taskId),
  };
}

export type FileKeys = ReturnType<typeof createFileKeys>;

type Files = { row: Pick<BackupRow, "path">; base: Pick<BackupRow, "path"> | null };

/** Finds what opens an encrypted backup and the full that it needs. @throws like `findFileKey` */
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
