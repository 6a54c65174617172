// A restore from beginning to end: the file is checked, what is there is saved, then it is replaced, whole or not at all.
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import { recordEvent } from "../events/store.ts";
import type { BackupRow, BackupStore } from "./backup-store.ts";
import type { ConfigurationRow } from "./configuration-store.ts";
import { backupEvent } from "./event-data.ts";
import { createOutput, type Output } from "./output.ts";
import { DamagedCopy, openPlain, verifyStored } from "./pipeline.ts";
import type { Places } from "./places.ts";
import { SourceError, type Source } from "./sources/source.ts";
import type { TakeBackup } from "./take-backup.ts";
import type { TaskRow, TaskStore } from "./task-store.ts";
import { sizeInWords } from "./sources/size-in-words.ts";
import { Interrupted, operatorWords, tellFailure } from "./words.ts";

export type RestoreOptions = {
  store: BackupStore;
  tasks: TaskStore;
  places: Places;
  takeBackup: TakeBackup;
  clock: Clock;
  log: Logger;
};

export function createRestore(options: RestoreOptions) {
  const { store, tasks, places, takeBackup, clock, log } = options;

  async function end(
    task: TaskRow,
    row: BackupRow,
    configuration: ConfigurationRow,
    outcome: { status: "finished" } | { status: "failed"; reason: string },
    output: Output,
  ): Promise<void> {
    const at = new Date(clock.now());
    if (outcome.status === "failed") output.say(outcome.reason);
    const change = {
      restore_status: outcome.status,
      restore_output: output.text(),
      ...(outcome.status === "finished" && { restored_at: at }),
    };
    await store.transaction(async (tx) => {
      if (!(await tasks.end(tx, task.id))) return;
      await store.update(tx, row.id, change);
      const type = outcome.status === "finished" ? "restore.finished" : "restore.failed";
      const reason = outcome.status === "failed" ? outcome.reason : null;
      await recordEvent(tx, backupEvent(configuration, row, { type, reason }));
    });
  }

  /** Saves what the restore is about to replace. */
  async function saveTarget(
    configuration: ConfigurationRow,
    source: Source,
    signal: AbortSignal,
    say: (line: string) => Promise<void>,
  ): Promise<void> {
    if (!(await source.exists()))
      return say("There is nothing to replace, so nothing is saved first.");
    const waiting = await store.transaction((tx) =>
      store.insert(tx, {
        configuration_id: configuration.id,
        storage_provider_id: configuration.storage_provider_id,
        trigger: "safety",
        started_at: new Date(clock.now()),
      }),
    );
    const safety = await takeBackup.take(waiting, configuration, signal);
    signal.throwIfAborted();
    if (safety === null) {
      const reason = (await store.byId(waiting.id))?.status_reason ?? "";
      throw new SourceError(
        `What is there now could not be saved first (backup ${waiting.id}), so nothing was changed: ${reason} If it is broken beyond saving, move it out of the way and restore again.`,
      );
    }
    await say(
      `What was there is saved as backup ${safety.id} (${sizeInWords(safety.size)}); restore that one to put it back.`,
    );
  }

  return {
    async perform(
      task: TaskRow,
      row: BackupRow,
      configuration: ConfigurationRow,
      signal: AbortSignal,
    ): Promise<void> {
      const output = createOutput();
      const say = async (line: string) => {
        output.say(line);
        await store.transaction((tx) =>
          store.update(tx, row.id, { restore_output: output.text() }),
        );
      };
      try {
        const source = await places.source(configuration);
        const storage = await places.storage(row.storage_provider_id);
        await say(`Checking the stored file in ${storage.place}.`);
        await verifyStored(storage, row, signal);
        await say("It is what was stored. Saving what is there now.");
        await saveTarget(configuration, source, signal, say);
        await say("Restoring.");
        const attempt = { id: row.id, say: output.say, signal };
        await source.restore(await openPlain(storage, row, signal), attempt);
        output.say("Restored.");
        if (configuration.type === "site")
          output.say("The site's workers still run in the folder as it was: restart them.");
        await end(task, row, configuration, { status: "finished" }, output);
      } catch (error) {
        const words = operatorWords(error);
        if (words === null)
          log.error({ err: error, backup: row.id }, "a restore failed unexpectedly");
        if (error instanceof DamagedCopy)
          await store.transaction((tx) => store.update(tx, row.id, { damage: error.message }));
        await end(
          task,
          row,
          configuration,
          { status: "failed", reason: tellFailure(error) },
          output,
        );
      }
    },

    /** After a restore that was cut off with the service: its target is finished or undone, then the outcome told. */
    async settle(task: TaskRow, row: BackupRow, configuration: ConfigurationRow): Promise<void> {
      const output = createOutput(row.restore_output ?? "");
      const signal = AbortSignal.timeout(settleMs);
      let reason: string;
      try {
        const source = await places.source(configuration);
        const state = await source.settle({ id: row.id, say: output.say, signal });
        if (state === "restored") {
          output.say("The service was stopped at its very end; the restore is complete.");
          return await end(task, row, configuration, { status: "finished" }, output);
        }
        reason =
          state === "as it was"
            ? "Interrupted: the service was stopped. What was there is as it was."
            : "Interrupted: the service was stopped. What was there is either as it was or as in the backup, whole in both cases.";
      } catch (error) {
        log.error(
          { err: error, backup: row.id },
          "a restore that was cut off could not be settled",
        );
        reason = `${new Interrupted("Interrupted: the service was stopped.").message} Putting things in order failed as well: ${tellFailure(error)}`;
      }
      await end(task, row, configuration, { status: "failed", reason }, output);
    },
  };
}

/** Putting things in order is renames and drops. */
const settleMs = 5 * 60_000;
