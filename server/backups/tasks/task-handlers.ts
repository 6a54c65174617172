// Performs each kind of task, and settles interrupted ones, when the task runner requests it.
import { backupEvent, drillFailedEvent, restoreEvent } from "../event-data.ts";
import type { BackupRow } from "../backup-store.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import type { CopyBackup } from "../copies/copy-backup.ts";
import type { CopyStore } from "../copies/copy-store.ts";
import type { FileKeys } from "../file-keys.ts";
import type { ImportTasks } from "../foreign/import-tasks.ts";
import { createVerification, type VerificationOptions } from "../verification/verification.ts";
import type { ConfigurationTransitions } from "../configuration-transitions.ts";
import { createRestore } from "../restore/restore.ts";
import type { Retention } from "../retention/retention.ts";
import type { TakeBackup } from "../run/take-backup.ts";
import { isUnended } from "../run/unended-row.ts";
import { cutOff } from "./task-runner.ts";
import type { TaskRow } from "./task-store.ts";
import { Interrupted } from "../failure-message.ts";
import { recordEvent } from "../../events/store.ts";
import { ClaimLost } from "../../jobs/job-runner.ts";
import type { Connection } from "../../store/database.ts";

type TaskHandlersOptions = VerificationOptions & {
  fileKeys: FileKeys;
  takeBackup: TakeBackup;
  imports: ImportTasks;
  copyBackup: CopyBackup;
  copies: Pick<CopyStore, "abandoned" | "withoutJob" | "twinsOf">;
  retention: Retention;
  transitions: Pick<ConfigurationTransitions, "move">;
};

export function createTaskHandlers(options: TaskHandlersOptions) {
  const { store, configurations, tasks, takeBackup, copyBackup, copies, imports, retention } =
    options;
  const restore = createRestore(options);
  const verification = createVerification(options);

  async function run(
    task: TaskRow,
    row: BackupRow,
    configuration: ConfigurationRow,
    signal: AbortSignal,
  ): Promise<void> {
    const finished = await takeBackup.take(row, configuration, signal, {
      claim: task,
      also: (tx) => endHeld(tx, task),
    });
    if (finished === null) return endIfEnded(task);
    // A run that waits for its copy ends with that copy.
    if (finished.status === "finished") await retention.apply(configuration.id);
  }

  async function copy(
    task: TaskRow,
    row: BackupRow,
    configuration: ConfigurationRow,
    signal: AbortSignal,
  ): Promise<void> {
    const also = (tx: Connection) => endHeld(tx, task);
    if (!(await copyBackup.perform(row, configuration, signal, { claim: task, also })))
      return endIfEnded(task);
    await retention.apply(configuration.id);
  }

  const interrupterOf = ({ trigger }: BackupRow) => (trigger === "copy" ? copyBackup : takeBackup);

  /** Ends a task, or throws so that its outcome is rolled back. */
  async function endHeld(tx: Connection, task: TaskRow): Promise<void> {
    if (!(await tasks.end(tx, task))) throw new ClaimLost();
  }

  /** A safety backup has no task of its own: it is interrupted together with its restore. */
  async function interruptLeft(
    rows: readonly BackupRow[],
    reason: Interrupted,
    also: (tx: Connection) => Promise<void>,
  ): Promise<void> {
    for (const row of rows) {
      const found = await store.withConfiguration(row.id);
      if (found !== null)
        await interrupterOf(row).interrupt(row, found.configuration, reason, also);
    }
  }

  /** Ends a task whose backup has ended otherwise, or whose configuration is gone. */
  const endIfLeft = (task: TaskRow) =>
    store.transaction(async (tx) => {
      await tasks.end(tx, task);
    });

  /** Like `endIfLeft`. Where the backup has not ended, throws, so that the task is handed out again and settled. */
  const endIfEnded = (task: TaskRow) =>
    store.transaction(async (tx) => {
      const row = await store.lock(tx, task.backup_id);
      if (row !== null && isUnended(row))
        throw new Error(`Backup ${row.id} is still ${row.status}.`);
      await tasks.end(tx, task);
    });

  return {
    async perform(task: TaskRow, signal: AbortSignal): Promise<void> {
      const found = await store.withConfiguration(task.backup_id);
      if (found === null) return endIfLeft(task);
      const { backup, configuration } = found;
      switch (task.kind) {
        case "run":
          return run(task, backup, configuration, signal);
        case "import":
          return imports.perform(task, backup, configuration, signal);
        case "copy":
          return copy(task, backup, configuration, signal);
        case "restore":
          return restore.perform(task, backup, configuration, signal);
        case "drill":
          return verification.drill(task, backup, configuration, signal);
        case "verify":
          return verification.verify(task, backup, configuration, signal);
      }
    },

    /** Ends a task that its runner has abandoned. */
    async settle(task: TaskRow, reason: Interrupted): Promise<void> {
      // Only one task of a server runs at a time, so whatever else has the status `running` there does not run.
      const left = await store.cutOff(task.server_id);
      await interruptLeft(
        left.filter(({ id }) => id !== task.backup_id),
        reason,
        (tx) => tasks.hold(tx, task),
      );
      const found = await store.withConfiguration(task.backup_id);
      if (found === null) return endIfLeft(task);
      const { backup, configuration } = found;
      switch (task.kind) {
        case "run":
        case "copy":
          if (backup.status === "running" || backup.status === "pending")
            await interrupterOf(backup).interrupt(backup, configuration, reason, (tx) =>
              endHeld(tx, task),
            );
          return endIfLeft(task);
        case "import":
          return imports.settle(task, backup, configuration, reason);
        case "restore":
          return restore.settle(task, backup, configuration, reason);
        case "drill":
          return verification.settleDrill(task, backup, configuration, reason);
        case "verify":
          return endIfLeft(task);
      }
    },

    /** Called at the start: ends backups that have the status `running` on servers without a runner. */
    async interruptOrphans(): Promise<void> {
      const left = [...(await store.orphans()), ...(await copies.withoutJob())];
      await interruptLeft(left, new Interrupted(cutOff), async () => undefined);
      for (const run of await copies.abandoned()) {
        const found = await store.withConfiguration(run.id);
        if (found !== null) await copyBackup.release(run, found.configuration);
      }
    },

    /** Ends a task that waited too long; the task runner has the deadline of a task that runs. */
    async expire(task: TaskRow): Promise<void> {
      options.fileKeys.drop(task.id);
      const found = await store.withConfiguration(task.backup_id);
      const reason = "Timed out after 24 hours in the queue: another job on this server blocks it.";
      const announce = await store.transaction(async (tx) => {
        // Cancelling locks the configuration before the task; the other order could deadlock.
        if (found !== null) await configurations.lock(tx, found.configuration.id);
        if (!(await tasks.endWaiting(tx, task.id)) || found === null) return null;
        const { backup, configuration } = found;
        if (task.kind === "copy")
          return copyBackup.endUnbegun(tx, backup.id, configuration, new Interrupted(reason));
        const never = { reason, startedAt: null, endedAt: new Date(options.clock.now()) };
        if (task.kind === "import") await imports.expire(tx, backup, configuration, reason);
        else if (task.kind === "run") {
          const failed = await store.move(tx, backup, "failed", {
            status_reason: reason,
            ended_at: new Date(options.clock.now()),
            output: reason,
          });
          if (failed !== null)
            await recordEvent(
              tx,
              backupEvent(configuration, failed, { type: "backup.failed", reason }),
            );
        } else if (task.kind === "restore") {
          await store.update(tx, backup.id, { restore_status: "failed", restore_output: reason });
          await recordEvent(tx, restoreEvent(configuration, backup, never));
        } else if (task.kind === "drill") {
          const ended = { drill_output: reason, drilled_at: never.endedAt };
          await store.update(tx, backup.id, { ...ended, drill_status: "failed" });
          await configurations.setDrillFailed(tx, backup, never.endedAt);
          await recordEvent(tx, drillFailedEvent(configuration, backup, never));
        }
        return null;
      });
      announce?.();
    },
  };
}
