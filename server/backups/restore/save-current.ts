// Backs up the data that a restore is about to replace.
import type { Clock } from "../../clock.ts";
import type { Connection } from "../../store/database.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import { sizeInWords } from "../formatting.ts";
import { refuseUnsaved, savedWith, type Destinations } from "./restore-destination.ts";
import { SourceError, type Source } from "../sources/source.ts";
import type { TakeBackup } from "../run/take-backup.ts";
import type { TaskRow, TaskStore } from "../tasks/task-store.ts";

export type SaveCurrentOptions = {
  store: BackupStore;
  configurations: Pick<ConfigurationStore, "saverOf">;
  tasks: TaskStore;
  takeBackup: TakeBackup;
  clock: Clock;
};

/** A restore, and the source that it is about to replace. */
type Replaced = {
  task: TaskRow;
  source: Source;
  /** Configuration of the backup that is restored. */
  configuration: ConfigurationRow;
  manifest: BackupRow["manifest"];
  /** Null = the backup's own source. */
  target: BackupRow["restore_target"];
};

type Say = (line: string) => Promise<void>;

export function createSaveCurrent(options: SaveCurrentOptions, destinations: Destinations) {
  const { store, tasks, takeBackup, clock } = options;

  /** @throws SourceError where it failed, or the signal's reason */
  async function takeSafetyBackup(
    configuration: ConfigurationRow,
    task: TaskRow,
    signal: AbortSignal,
  ): Promise<BackupRow> {
    const hold = (tx: Connection) => tasks.hold(tx, task);
    const waiting = await store.transaction(async (tx) => {
      await hold(tx);
      return store.insert(tx, {
        configuration_id: configuration.id,
        storage_provider_id: configuration.storage_provider_id,
        trigger: "safety",
        started_at: new Date(clock.now()),
      });
    });
    const taken = await takeBackup.take(waiting, configuration, signal, {
      claim: task,
      also: hold,
    });
    signal.throwIfAborted();
    if (taken !== null) return taken;
    const reason = (await store.byId(waiting.id))?.status_reason ?? "";
    throw new SourceError(
      `Couldn't back up current data (backup ${waiting.id}), so nothing was changed: ${reason} If the data is too damaged to back up, restore again without a backup.`,
    );
  }

  /**
   * @returns the id of the safety backup; null where there is no data
   * @throws SourceError where the data cannot be saved
   */
  return async function saveCurrent(
    { task, source, configuration, manifest, target }: Replaced,
    signal: AbortSignal,
    say: Say,
  ): Promise<number | null> {
    await say("Backing up current data.");
    const saver = await destinations.saverOf(task, configuration);
    if (saver === null)
      await refuseUnsaved(
        source,
        { name: target?.name ?? "", database: target?.database ?? null },
        signal,
      );
    if (saver === null || !(await source.exists())) {
      await say("No current data to back up.");
      return null;
    }
    const safety = await takeSafetyBackup({ ...saver, ...savedWith({ manifest }) }, task, signal);
    await say(
      `Current data saved as backup ${safety.id} (${sizeInWords(safety.size)}). Restore that backup to undo this restore.`,
    );
    return safety.id;
  };
}
