// The keys of encrypted backups whose restores wait or run: in memory, here alone, and no longer than that.
import type { Clock } from "../clock.ts";
import type { FileKey } from "../encryption/decrypt.ts";
import { longestWaitMs } from "./task-runner.ts";

export function createFileKeys(clock: Clock) {
  const held = new Map<string, { key: FileKey; forget: () => void }>();

  function take(taskId: string): FileKey | null {
    const found = held.get(taskId);
    found?.forget();
    held.delete(taskId);
    return found?.key ?? null;
  }

  return {
    /** For the task that is about to be stored; one that is not leaves it until it would have waited for too long. */
    keep(taskId: string, key: FileKey): void {
      const forget = clock.after(longestWaitMs, () => held.delete(taskId));
      held.set(taskId, { key, forget });
    },

    /** @returns null where it never was, or another instance or an earlier life of this one had it */
    take,

    /** Of a task that is over before it has begun. */
    drop: (taskId: string): void => void take(taskId),
  };
}

export type FileKeys = ReturnType<typeof createFileKeys>;
