// What is removed after a finished run, and the removal itself: the file first, the row second.
import type { Logger } from "pino";
import { operatorWords } from "./words.ts";
import type { BackupRow, BackupStore } from "./backup-store.ts";
import type { ConfigurationRow } from "./configuration-store.ts";
import type { Places } from "./places.ts";
import type { TaskStore } from "./task-store.ts";

/**
 * The backups beyond those to keep. A copy that is known to be damaged counts for nothing, so it never pushes a good
 * one out; and the newest is never among them.
 * @param finished finished backups, newest first
 * @param hold how many good ones to keep, at least 1
 */
export function beyondHold<Backup extends Pick<BackupRow, "id" | "damage">>(
  finished: readonly Backup[],
  hold: number,
): Backup[] {
  const good = finished.filter(({ damage }) => damage === null);
  const oldestKept = good[Math.min(hold, good.length) - 1];
  if (oldestKept === undefined) return [];
  return finished.slice(1).filter(({ id }) => id < oldestKept.id);
}

export type RetentionOptions = {
  store: BackupStore;
  tasks: TaskStore;
  places: Places;
  log: Logger;
};

export function createRetention({ store, tasks, places, log }: RetentionOptions) {
  /** @returns a sentence when it could not be done */
  async function removeOne(row: BackupRow): Promise<string | null> {
    const deleting = await store.transaction(async (tx) =>
      // What is being restored or proven is left for the next time.
      (await tasks.ofBackup(tx, row.id)).length > 0 ? null : store.move(tx, row, "deleting"),
    );
    if (deleting === null) return null;
    try {
      const storage = await places.storage(row.storage_provider_id);
      await storage.remove(row.path);
    } catch (error) {
      log.warn({ err: error, backup: row.id }, "an old backup's file was not removed");
      await store.transaction((tx) => store.move(tx, deleting, "finished"));
      return `Backup ${row.id} should have been removed, and stays: ${operatorWords(error) ?? "its file could not be removed"}`;
    }
    await store.transaction((tx) => store.remove(tx, deleting));
    return null;
  }

  return {
    /**
     * Removes what is beyond the configuration's hold.
     * @returns what could not be removed, in words
     */
    async apply(configuration: ConfigurationRow): Promise<string[]> {
      const finished = await store.finished(configuration.id);
      const problems: string[] = [];
      const removed = beyondHold(finished, configuration.hold);
      for (const row of removed) {
        const problem = await removeOne(row);
        if (problem !== null) problems.push(problem);
      }
      const gone = new Set(removed.map(({ id }) => id));
      const oldestKept = finished.findLast(({ id }) => !gone.has(id));
      if (oldestKept !== undefined)
        await store.transaction((tx) =>
          store.removeFailedBefore(tx, configuration.id, oldestKept.id),
        );
      return problems;
    },
  };
}

export type Retention = ReturnType<typeof createRetention>;
