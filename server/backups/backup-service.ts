// The rules of backups: which actions are allowed when. The work itself is a task in the queue of its server.
import { basename } from "node:path";
import { canBackup, runningWork } from "../../contract/backups/backup.ts";
import type { Clock } from "../clock.ts";
import type { Actor } from "../activity/actor.ts";
import { recordActivity } from "../activity/store.ts";
import { conflict } from "../http/service-error.ts";
import { ObjectLocked } from "../storage/storage.ts";
import type { Leases } from "../instances/leases.ts";
import type { JobData } from "../jobs/job-data.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Connection } from "../store/database.ts";
import type { ListRequest } from "../store/filtered-rows.ts";
import type { BackupTaskKind } from "../store/tables/backups.ts";
import { createAddTasks } from "./tasks/add-tasks.ts";
import { backupEntry, canceledAction } from "./event-data.ts";
import type { BackupRow, BackupStore } from "./backup-store.ts";
import type { Chain } from "./incremental/chain.ts";
import type { ChainStore } from "./incremental/chain-store.ts";
import type { ConfigurationStore } from "./configuration-store.ts";
import type { CopyBackup } from "./copies/copy-backup.ts";
import type { CopyQueue } from "./copies/copy-queue.ts";
import { createCopyRequest } from "./copies/copy-request.ts";
import type { CopyStore } from "./copies/copy-store.ts";
import type { FileKeys } from "./file-keys.ts";
import type { Uploads } from "./foreign/uploads.ts";
import { isLocked, lockedMessage } from "./run/lock-stored.ts";
import { createPinning } from "./retention/pinning.ts";
import type { TaskRunner } from "./tasks/task-runner.ts";
import { createLockBoth } from "./lock-both.ts";
import { createOpenStored } from "./open-stored.ts";
import { openVerified } from "./pipeline/read-verified.ts";
import type { Resolver } from "./resolver.ts";
import type { Removal } from "./retention/removal.ts";
import { createRunMaker } from "./schedule/run-maker.ts";
import { removeStored } from "./stored-file.ts";
import type { ScheduleStore } from "./schedule/schedule-store.ts";
import type { TaskRow, TaskStore } from "./tasks/task-store.ts";
import { cancellationMessage, Canceled } from "./failure-message.ts";

type BackupServiceOptions = {
  store: BackupStore;
  configurations: ConfigurationStore;
  scheduleStore: Pick<ScheduleStore, "takeMoments">;
  tasks: TaskStore;
  chain: Pick<Chain, "baseOf">;
  chainStore: Pick<ChainStore, "needing">;
  resolver: Resolver;
  runner: TaskRunner;
  removal: Removal;
  copyBackup: Pick<CopyBackup, "endUnbegun">;
  copies: CopyStore;
  copyQueue: CopyQueue;
  fileKeys: FileKeys;
  jobs: Jobs;
  leases: Pick<Leases, "holdThose">;
  /** Files that are being received. */
  uploads: Pick<Uploads, "cancel">;
  clock: Clock;
};

const alreadyEnding = "The backup is already ending. Check again in a moment.";

/** Names of tasks for sentences. */
export const taskNames = {
  run: "being backed up",
  import: "being imported",
  copy: "being copied",
  restore: "being restored",
  drill: "in a restore drill",
  verify: "being verified",
} as const satisfies Record<BackupTaskKind, string>;

/** Returns the task of a backup to cancel first: its own, otherwise that of a copy. */
function cancelableOf(id: number, all: readonly TaskRow[]): TaskRow | undefined {
  const work = all.filter(({ kind }) => kind !== "verify");
  return work.find((task) => task.backup_id === id) ?? work[0];
}

export function createBackupService(options: BackupServiceOptions) {
  const { store, tasks, resolver, runner, removal, copyBackup, copyQueue, fileKeys, jobs, clock } =
    options;
  const { run, runScheduled } = createRunMaker(options);
  const { addTask } = createAddTasks(options);
  const lockBoth = createLockBoth(options);

  /** Queues a verification of the stored file, unless the backup has another task. */
  const verify = (found: BackupRow): Promise<void> =>
    store.transaction(async (tx) => {
      const { row, configuration } = await lockBoth(tx, found);
      if (row.status !== "finished" || (await tasks.ofBackup(tx, row.id)).length > 0) return;
      await addTask(tx, configuration, row.id, "verify");
    });
  // Otherwise the backup would count as good until its weekly verification.
  const { findFile, noted } = createOpenStored({ ...options, onDamage: verify });

  const endUnbegun = async (
    tx: Connection,
    kind: BackupTaskKind,
    { row, serverId }: { row: BackupRow; serverId: number },
    reason: string,
  ): Promise<void> => {
    if (kind === "run" || kind === "import") {
      const change = {
        status_reason: reason,
        ended_at: new Date(clock.now()),
        output: reason,
        path: "",
      };
      await store.move(tx, row, "failed", change);
      const { storage_provider_id, path } = row;
      if (path !== "")
        await jobs.send(tx, "backup.clean", { storage_provider_id, path, server_id: serverId });
    } else if (kind === "restore")
      await store.update(tx, row.id, { restore_status: "failed", restore_output: reason });
    else {
      // Otherwise a drill that was due would be queued again at once.
      const drilled_at = new Date(clock.now());
      const change = { drill_status: "canceled", drill_output: reason, drilled_at } as const;
      await store.update(tx, row.id, change);
    }
  };

  /** Refuses to cancel a task that another instance runs. Checked before anything is stored. @throws a conflict */
  async function refuseElsewhere(backupId: number): Promise<void> {
    const busy = await store.transaction((tx) => tasks.ofBackup(tx, backupId));
    const task = cancelableOf(backupId, busy);
    if (task?.is_claimed !== true || (await runner.performs(task))) return;
    // The task may have ended meanwhile.
    const now = await tasks.byId(task.id);
    throw conflict(
      now?.is_claimed === true
        ? "Another instance of the service runs this. Cancel it there."
        : alreadyEnding,
    );
  }

  return {
    withConfiguration: (id: number) => store.withConfiguration(id),
    list: (configurationId: number, page: ListRequest) => store.list(configurationId, page),

    run,
    runScheduled,

    /**
     * Queues a drill of a backup.
     * @param actor absent = the caller of the request
     * @throws a conflict
     */
    async drill(found: BackupRow, actor?: Actor): Promise<BackupRow> {
      const row = await store.transaction(async (tx) => {
        const { row, configuration } = await lockBoth(tx, found);
        if (!canBackup.restore(row))
          throw conflict(
            `Only a finished backup can run a restore drill. The backup is ${row.status}.`,
          );
        const [busy] = await tasks.ofBackup(tx, row.id);
        if (busy !== undefined) throw conflict(`The backup is already ${taskNames[busy.kind]}.`);
        await store.update(tx, row.id, { drill_status: "running", drill_output: "" });
        await addTask(tx, configuration, row.id, "drill");
        const by = actor === undefined ? {} : { actor };
        await recordActivity(tx, backupEntry(configuration, row, "asked to prove", by));
        return row;
      });
      return { ...row, drill_status: "running", drill_output: "" };
    },

    /** Returns the server whose queue has a task of the backup; null = none has. */
    async workServer({ id }: BackupRow): Promise<number | null> {
      const all = await store.transaction((tx) => tasks.ofBackup(tx, id));
      return cancelableOf(id, all)?.server_id ?? null;
    },

    /**
     * Cancels the task of a backup. A waiting task has ended when this resolves; a running one is told to end.
     * @param by the name of the caller, for the output
     * @throws a conflict where no task of the backup waits or runs
     */
    async cancel(found: BackupRow, by: string): Promise<BackupRow> {
      const reason = new Canceled(by);
      await refuseElsewhere(found.id);
      const { row, begun, announce } = await store.transaction(async (tx) => {
        const { row, configuration } = await lockBoth(tx, found, { isEnding: true });
        const task = cancelableOf(row.id, await tasks.ofBackup(tx, row.id));
        if (task === undefined && options.uploads.cancel(row.id, reason)) {
          await recordActivity(tx, backupEntry(configuration, row, "asked to cancel"));
          return { row, begun: null, announce: null };
        }
        if (task === undefined)
          throw conflict(
            row.trigger === "safety" && runningWork(row) !== null
              ? "The backup is part of a restore. Cancel the restore instead."
              : "Nothing to cancel: the backup is neither queued nor running.",
          );
        await recordActivity(tx, backupEntry(configuration, row, "asked to cancel"));
        if (!(await tasks.endWaiting(tx, task.id))) return { row, begun: task, announce: null };
        fileKeys.drop(task.id);
        if (task.kind === "copy") {
          const announce = await copyBackup.endUnbegun(tx, task.backup_id, configuration, reason);
          return { row, begun: null, announce };
        }
        const detail = cancellationMessage(reason, task.kind);
        await endUnbegun(tx, task.kind, { row, serverId: configuration.server_id }, detail);
        await recordActivity(
          tx,
          backupEntry(configuration, row, canceledAction[task.kind], { detail }),
        );
        return { row, begun: null, announce: null };
      });
      announce?.();
      if (begun !== null && !(await runner.cancel(begun, reason))) throw conflict(alreadyEnding);
      return (await store.byId(row.id)) ?? row;
    },

    verify,
    setPinned: createPinning(options),
    copy: createCopyRequest(options),

    /** Queues the removal of the file and then the row. @throws a conflict */
    async remove(found: BackupRow): Promise<void> {
      await store.transaction(async (tx) => {
        const { row, configuration } = await lockBoth(tx, found);
        if (row.pinned_at !== null)
          throw conflict("The backup is pinned. Unpin it before you delete it.");
        if (!canBackup.remove(row))
          throw conflict(`The backup is ${row.status}. Delete it once that is done.`);
        if (row.locked_until !== null && isLocked(row, new Date(clock.now())))
          throw conflict(
            lockedMessage(await copyQueue.nameOf(row.storage_provider_id, tx), row.locked_until),
          );
        const [busy] = await tasks.ofBackup(tx, row.id);
        if (busy !== undefined)
          throw conflict(`The backup is ${taskNames[busy.kind]}. Delete it once that is done.`);
        const needing = await options.chainStore.needing(tx, row.id);
        if (needing.length > 0) throw conflict(neededBy(needing));
        if (!(await removal.begin(tx, row)))
          throw conflict("The backup is being changed. Try again in a moment.");
        await recordActivity(
          tx,
          backupEntry(configuration, row, "deleted", {
            detail: row.path === "" ? "No stored file." : `Stored file deleted: ${row.path}`,
          }),
        );
      });
    },

    /** Removes what a failed run may have stored. The job is retried until the storage responds. */
    async clean(data: JobData["backup.clean"]): Promise<void> {
      try {
        await removeStored(await resolver.storage(data.storage_provider_id), data.path);
      } catch (error) {
        if (!(error instanceof ObjectLocked)) throw error;
        // The storage's lock has ended by then.
        const waitSeconds = Math.ceil((error.until.getTime() - clock.now()) / 1000);
        await store.transaction((tx) => jobs.send(tx, "backup.clean", data, waitSeconds));
      }
    },

    findFile,

    /** Opens the stored file. The stream fails before its end if the file is not what was stored. */
    async download(row: BackupRow) {
      const storage = await findFile(row);
      const opening = openVerified(storage, row, new AbortController().signal);
      const content = await noted(row, opening);
      const { path, size: sizeBytes, checksum } = row;
      return { content, name: basename(path), sizeBytes, checksum };
    },
  };
}

const shownIds = 5;

/** Explains why a full cannot be deleted. */
function neededBy(ids: readonly number[]): string {
  const shown = ids.slice(0, shownIds).join(", ");
  const more = ids.length > shownIds ? ` and ${ids.length - shownIds} more` : "";
  return ids.length === 1
    ? `Backup ${shown} holds only what has changed since this one, and needs it. Delete backup ${shown} first.`
    : `${ids.length} backups hold only what has changed since this one, and need it: ${shown}${more}. Delete them first.`;
}

export type BackupService = ReturnType<typeof createBackupService>;
