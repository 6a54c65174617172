// Stores how a restore ended: done, failed, canceled, or cut off with the service that ran it.
import type { Readable } from "node:stream";
import type { Logger } from "pino";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { recordEvent } from "../../events/store.ts";
import { ClaimLost } from "../../jobs/job-runner.ts";
import { ServerAway } from "../../ssh/server-away.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import type { ConfigurationTransitions } from "../configuration-transitions.ts";
import type { CopyStore } from "../copies/copy-store.ts";
import { backupEntry, canceledAction, restoreEvent } from "../event-data.ts";
import {
  cancellationMessage,
  Canceled,
  failureMessage,
  type Interrupted,
  leftBehind,
  operatorMessage,
} from "../failure-message.ts";
import type { NoteDamage } from "../verification/note-damage.ts";
import type { Output } from "../output.ts";
import { StorageError } from "../../storage/storage.ts";
import { DamagedBackup } from "../pipeline/read-verified.ts";
import type { RecoveryWriter } from "../recovery/recovery-writer.ts";
import type { Destinations } from "./restore-destination.ts";
import type { TaskRow, TaskStore } from "../tasks/task-store.ts";

export type RestoreOutcomeOptions = {
  store: BackupStore;
  configurations: Pick<ConfigurationStore, "lock" | "saverOf">;
  transitions: Pick<ConfigurationTransitions, "move">;
  tasks: TaskStore;
  note: NoteDamage;
  recovery: Pick<RecoveryWriter, "request">;
  copies: Pick<CopyStore, "twinsOf">;
  clock: Clock;
  log: Logger;
};

/** A restore that runs or ran, and what it has reported so far. */
export type RestoreRun = {
  task: TaskRow;
  row: BackupRow;
  configuration: ConfigurationRow;
  output: Output;
};

/** How far a restore got. */
export type RestoreProgress = {
  /** From here on, the message of a failure says what it left behind, unless the stored file itself is damaged. */
  isExplained: boolean;
  /** Whether the source restores beside the current data and takes its place at the end. */
  isBuiltAside: boolean;
  /** What the source restores from; null before it begins. */
  content: Readable | null;
};

type Outcome = { status: "finished" } | { status: "failed"; reason: string; isCanceled?: boolean };

/** How long a source may take to complete or undo a restore that was cut off, which it does by renames and drops. */
const settleMs = 5 * 60_000;

/** Advice if the connection to the server was lost, so that the outcome of the restore is unknown. */
const serverAway =
  "The data is either unchanged or fully restored: check it before you continue. An unfinished restore is completed or undone before the next backup.";

export function createRestoreOutcome(options: RestoreOutcomeOptions, destinations: Destinations) {
  const { store, configurations, transitions, tasks, note, recovery, copies, clock, log } = options;
  /** Tasks that have replaced the data and whose outcome is not stored yet: whatever fails in between, they succeeded. */
  const restored = new Set<string>();

  async function end(run: RestoreRun, outcome: Outcome): Promise<void> {
    const { task, row, configuration, output } = run;
    const at = new Date(clock.now());
    if (outcome.status === "failed") output.say(outcome.reason);
    const change = {
      restore_status: outcome.status,
      restore_output: output.text(),
      ...(outcome.status === "finished" && { restored_at: at }),
    };
    const isOwnSource = outcome.status === "finished" && task.destination === null;
    await store.transaction(async (tx) => {
      // Every transaction locks the configuration before the backup.
      const own = isOwnSource ? await configurations.lock(tx, configuration.id) : null;
      if (!(await tasks.end(tx, task))) return;
      await store.update(tx, row.id, change);
      // Without a schedule, no run would notice that the source of an adopted backup exists again.
      if (own?.status === "failed" && own.adopted_at !== null)
        await transitions.move(tx, own, "installing", { status_reason: null });
      if (outcome.status === "failed" && outcome.isCanceled === true)
        return recordActivity(
          tx,
          backupEntry(configuration, row, canceledAction.restore, { detail: outcome.reason }),
        );
      const reason = outcome.status === "failed" ? outcome.reason : null;
      const details = { reason, startedAt: task.started_at, endedAt: at };
      await recordEvent(tx, restoreEvent(configuration, row, details));
    });
  }

  async function endRestored(run: RestoreRun): Promise<void> {
    await end(run, { status: "finished" });
    restored.delete(run.task.id);
  }

  /**
   * Has the source complete or undo a restore that was cut off, usually with the service, and stores the outcome.
   * @param isUnchanged whether the restore had not replaced anything yet
   */
  async function settle(run: RestoreRun, why: Interrupted, isUnchanged = false): Promise<void> {
    const { task, row, configuration, output } = run;
    const signal = AbortSignal.timeout(settleMs);
    if (restored.has(task.id)) {
      output.say("Restored. The outcome couldn't be stored at once.");
      return endRestored(run);
    }
    let reason: string;
    try {
      const source = await destinations.open(task, configuration, row);
      const state = await source.settle({ id: row.id, say: output.say, signal });
      if (state === "restored") {
        output.say("Interrupted after its last step. The restore is complete.");
        return await end(run, { status: "finished" });
      }
      reason =
        state === "as it was" || isUnchanged
          ? `${why.message} Nothing was changed.`
          : `${why.message} The data is either unchanged or fully restored.`;
    } catch (error) {
      log.error({ err: error, backup: row.id }, "a restore that was cut off could not be settled");
      reason = `${why.message} The cleanup failed too: ${failureMessage(error)}`;
    }
    await end(run, { status: "failed", reason, isCanceled: why instanceof Canceled });
  }

  async function noteDamaged(run: RestoreRun, error: DamagedBackup): Promise<void> {
    const { task, row, configuration } = run;
    await store.transaction(async (tx) => {
      await tasks.hold(tx, task);
      await note.damaged(tx, configuration, row, error, new Date(clock.now()));
    });
    recovery.request(row.storage_provider_id);
  }

  /** @returns what happened, what it left behind, and which other backups hold the same data */
  async function explain(
    row: BackupRow,
    { isExplained, content }: RestoreProgress,
    error: unknown,
  ): Promise<string> {
    const sentences = [failureMessage(error)];
    if (!isExplained || error instanceof DamagedBackup) sentences.push(leftBehind.restore);
    if (content !== null && error instanceof ServerAway) sentences.push(serverAway);
    if (error instanceof DamagedBackup || error instanceof StorageError)
      for (const { id, storage } of await copies.twinsOf(row))
        sentences.push(`The same data is in ${storage}: restore backup ${id} instead.`);
    return sentences.join(" ");
  }

  /**
   * Stores the outcome of a restore that threw `error`.
   * @param interruption the reason of its signal, where that was aborted
   * @throws ClaimLost where another runner has the restore now
   */
  async function fail(
    run: RestoreRun,
    progress: RestoreProgress,
    error: unknown,
    interruption: unknown,
  ): Promise<void> {
    if (error instanceof ClaimLost) throw error;
    const { task, row } = run;
    if (restored.has(task.id)) {
      log.error({ err: error, backup: row.id }, "a restore that was done could not be stored");
      return endRestored(run);
    }
    if (operatorMessage(error) === null)
      log.error({ err: error, backup: row.id }, "a restore failed unexpectedly");
    if (error instanceof DamagedBackup) await noteDamaged(run, error);
    if (!(interruption instanceof Canceled))
      return end(run, { status: "failed", reason: await explain(row, progress, error) });
    const { content, isBuiltAside } = progress;
    if (content !== null) return settle(run, interruption, isBuiltAside && !content.readableEnded);
    const reason = cancellationMessage(interruption, "restore");
    return end(run, { status: "failed", reason, isCanceled: true });
  }

  return {
    /** The data is replaced; `endRestored` follows. */
    noteRestored: (task: TaskRow) => void restored.add(task.id),
    endRestored,
    settle,
    fail,
  };
}
