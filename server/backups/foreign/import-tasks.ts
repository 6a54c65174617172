// The task that imports a file of a storage as a backup.
import type { Logger } from "pino";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { EncryptionError } from "../../encryption/encryption-error.ts";
import type { LocalHost } from "../../hosts/host.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import type { ImportedFile } from "../../jobs/job-data.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import { ClaimLost } from "../../jobs/job-runner.ts";
import type { Connection } from "../../store/database.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import { backupEntry } from "../event-data.ts";
import type { Interrupted } from "../failure-message.ts";
import type { FileKeys } from "../file-keys.ts";
import { openContent } from "../pipeline/read-verified.ts";
import type { Resolver } from "../resolver.ts";
import type { Source } from "../sources/source.ts";
import { engineOf, nameOf } from "../subject.ts";
import type { TakeBackup } from "../run/take-backup.ts";
import type { TaskRow, TaskStore } from "../tasks/task-store.ts";
import { importRoomIn } from "./import-room.ts";
import { createImportSource } from "./import-source.ts";

type ImportTasksOptions = {
  host: Pick<LocalHost, "run">;
  store: BackupStore;
  tasks: TaskStore;
  inventory: Pick<InventoryStore, "findDatabase" | "findSite">;
  resolver: Pick<Resolver, "source" | "storage">;
  takeBackup: TakeBackup;
  fileKeys: Pick<FileKeys, "take">;
  jobs: Pick<Jobs, "send">;
  clock: Clock;
  log: Logger;
};

const settleMs = 60_000;

export function createImportTasks(options: ImportTasksOptions) {
  const { store, tasks, inventory, resolver, takeBackup, fileKeys, jobs, clock, log } = options;

  /** Queues the removal of an uploaded file, which is not needed after the import, whether it succeeded or failed. */
  async function removeUpload(
    tx: Connection,
    { server_id }: Pick<ConfigurationRow, "server_id">,
    file: ImportedFile | null,
  ): Promise<void> {
    if (file === null || file.upload === null) return;
    const { storage_provider_id, path } = file;
    await jobs.send(tx, "backup.clean", { storage_provider_id, path, server_id });
  }

  async function openSource(
    task: TaskRow,
    configuration: ConfigurationRow,
    backupId: number,
  ): Promise<Source> {
    const { file } = task;
    const key = fileKeys.take(task.id)?.own ?? null;
    if (file === null) throw new Error(`The task ${task.id} imports nothing.`);
    if (file.upload?.is_sealed === true && key === null)
      throw new EncryptionError(
        "The service was restarted before the file was imported, and with it went the key that it was encrypted with for the time. Upload it again.",
      );
    const target = await resolver.source(configuration);
    const { database_id, site_id } = configuration;
    const found =
      database_id === null
        ? await inventory.findSite(site_id ?? 0)
        : await inventory.findDatabase(database_id);
    const storage = await resolver.storage(file.storage_provider_id);
    const expected = {
      path: file.path,
      size: file.size,
      checksum: file.upload?.checksum ?? null,
    };
    return createImportSource(backupId, {
      host: options.host,
      target,
      // The target exists, because its source was just opened.
      engine: found === null ? "folder" : engineOf(found),
      targetName: found === null ? configuration.name : nameOf(found),
      fileName: file.name,
      open: (signal) => openContent(storage, expected, { key, isPacked: true }, signal),
      room: await importRoomIn(storage),
    });
  }

  const endHeld = async (tx: Connection, task: TaskRow) => {
    if (!(await tasks.end(tx, task))) throw new ClaimLost();
  };

  const endIfLeft = (task: TaskRow) =>
    store.transaction(async (tx) => {
      await tasks.end(tx, task);
    });

  return {
    async perform(
      task: TaskRow,
      row: BackupRow,
      configuration: ConfigurationRow,
      signal: AbortSignal,
    ): Promise<void> {
      const finished = await takeBackup.take(row, configuration, signal, {
        claim: task,
        openSource: () => openSource(task, configuration, row.id),
        async also(tx) {
          await removeUpload(tx, configuration, task.file);
          await endHeld(tx, task);
        },
      });
      if (finished === null) await endIfLeft(task);
    },

    /** After a kill: removes what the import left on the target's machine, and stores it as failed. */
    async settle(
      task: TaskRow,
      row: BackupRow,
      configuration: ConfigurationRow,
      reason: Interrupted,
    ): Promise<void> {
      fileKeys.take(task.id);
      if (row.status === "running" || row.status === "pending") {
        const signal = AbortSignal.timeout(settleMs);
        await resolver
          .source(configuration)
          .then((source) => source.settle({ id: row.id, say: () => undefined, signal }))
          .catch((error: unknown) =>
            log.warn({ err: error, backup: row.id }, "what an import left was not removed"),
          );
        await takeBackup.interrupt(row, configuration, reason, async (tx) => {
          await removeUpload(tx, configuration, task.file);
          await endHeld(tx, task);
        });
      }
      await endIfLeft(task);
    },

    /** Fails an import that waited too long. */
    async expire(
      tx: Connection,
      row: BackupRow,
      configuration: ConfigurationRow,
      reason: string,
    ): Promise<void> {
      const change = {
        status_reason: reason,
        ended_at: new Date(clock.now()),
        output: reason,
        path: "",
      };
      if ((await store.move(tx, row, "failed", change)) === null) return;
      const { storage_provider_id, path } = row;
      const { server_id } = configuration;
      if (path !== "")
        await jobs.send(tx, "backup.clean", { storage_provider_id, path, server_id });
      await recordActivity(
        tx,
        backupEntry(configuration, row, "import failed", { outcome: "bad", detail: reason }),
      );
    },
  };
}

export type ImportTasks = ReturnType<typeof createImportTasks>;
