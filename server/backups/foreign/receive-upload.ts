// Receives an upload until it waits to be imported, and stores its progress and outcome in the backup's row.
import { basename } from "node:path";
import type { Logger } from "pino";
import { recordActivity } from "../../activity/store.ts";
import { InvalidFields, conflict } from "../../http/service-error.ts";
import type { Upload } from "../../http/route.ts";
import type { DatabaseRow, SiteRow } from "../../inventory/store.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import type { Storage } from "../../storage/storage.ts";
import { sql } from "../../store/drizzle.ts";
import type { BackupRow } from "../backup-store.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import { backupEntry, canceledAction } from "../event-data.ts";
import { Canceled, cancellationMessage, Interrupted, operatorMessage } from "../failure-message.ts";
import type { FileKeys } from "../file-keys.ts";
import { sizeInWords } from "../formatting.ts";
import { createOutput } from "../output.ts";
import { asConflict } from "../open-stored.ts";
import { cutOff } from "../tasks/task-runner.ts";
import { type ImportRoom, importRoomIn } from "./import-room.ts";
import type { ImportService, ImportServiceOptions } from "./import-service.ts";
import { type Received, tooLarge, type Uploads } from "./uploads.ts";

type Target = DatabaseRow | SiteRow;
type Sent = Upload<{ storage_provider_id: number; name?: string | undefined }>;

type ReceiveUploadOptions = ImportServiceOptions & {
  imports: ImportService;
  uploads: Uploads;
  fileKeys: FileKeys;
  jobs: Jobs;
  log: Logger;
};

type Receiving = { storage: Storage; room: ImportRoom; isSealed: boolean; signal: AbortSignal };

/** Limit of concurrent uploads, each of which holds a connection and pieces of its file. */
const maxAtOnce = 4;
const progressMs = 1000;

const brokeOff =
  "The upload broke off before the end of the file: it was canceled in the browser, or the connection was lost. Nothing of it was kept. Import the file again.";

export function createReceiveUpload(options: ReceiveUploadOptions) {
  const { store, importStore, imports, uploads, resolver, fileKeys, jobs, clock, log } = options;
  /** Number of requests that send a file, including those without a row yet. */
  let atOnce = 0;

  /** Stores that the upload failed. */
  async function fail(row: BackupRow, configuration: ConfigurationRow, error: unknown) {
    const isCanceled = error instanceof Canceled;
    const told = isCanceled ? cancellationMessage(error, "import") : operatorMessage(error);
    if (told === null) log.warn({ err: error, backup: row.id }, "an upload broke off");
    const reason = told ?? brokeOff;
    await store.transaction(async (tx) => {
      const change = {
        ended_at: new Date(clock.now()),
        status_reason: reason,
        output: reason,
        plain_size: 0,
        stored_bytes: 0,
        path: "",
      };
      if ((await store.move(tx, row, "failed", change)) === null) return;
      const { storage_provider_id, path } = row;
      const { server_id } = configuration;
      await jobs.send(tx, "backup.clean", { storage_provider_id, path, server_id });
      const outcome = isCanceled ? {} : { outcome: "bad" as const };
      const action = isCanceled ? canceledAction.import : "import failed";
      await recordActivity(
        tx,
        backupEntry(configuration, row, action, { ...outcome, detail: reason }),
      );
    });
    return reason;
  }

  /** Creates the backup's row with the status `running`. */
  async function begin(target: Target, storage: Storage, { fields, sizeBytes }: Sent) {
    const providerId = fields.storage_provider_id;
    let id: number | null = null;
    try {
      return await store.transaction(async (tx) => {
        const configuration = await imports.configurationFor(tx, target, providerId);
        const waiting = await imports.insert(tx, configuration, providerId);
        ({ id } = waiting);
        // Before the row is visible, so that it is not taken for an interrupted upload.
        uploads.expect(waiting.id);
        const name = basename(fields.name ?? "") || "The file";
        const time = new Date(clock.now()).toISOString().replace(/[-:]|\.\d+/g, "");
        const row = await store.move(tx, waiting, "running", {
          path: `${configuration.directory}/${configuration.id}/${waiting.id}-${time}.upload`,
          output: `Receiving ${name}${sizeBytes === null ? "" : `, ${sizeInWords(sizeBytes)}`}.\n`,
        });
        if (row === null) throw new Error(`Import ${waiting.id} was moved while it was made.`);
        const detail = `${name}, uploaded to ${storage.place}`;
        await recordActivity(tx, backupEntry(configuration, row, "asked to import", { detail }));
        return { row, configuration, name };
      });
    } catch (error) {
      if (id !== null) uploads.forget(id);
      throw error;
    }
  }

  /** Stores the number of received bytes at intervals. */
  function reportProgress({ id }: BackupRow) {
    let writtenAt = 0;
    return (bytes: number) => {
      const now = performance.now();
      if (now - writtenAt < progressMs) return;
      writtenAt = now;
      const change = { plain_size: bytes, stored_bytes: bytes };
      store
        .progress(id, change, sql`true`)
        .catch((error: unknown) => log.warn({ err: error }, "an upload's progress was not stored"));
    };
  }

  /** Queues the import, like that of a file that was in the storage before. */
  const wait = (
    { row, configuration, name }: Awaited<ReturnType<typeof begin>>,
    { size, checksum, key, sentBytes }: Received,
  ) =>
    store.transaction(async (tx) => {
      const output = createOutput(row.output);
      output.say(`Received ${sizeInWords(sentBytes)}. Waiting for other work on the server.`);
      const change = { output: output.text(), plain_size: 0, stored_bytes: 0 };
      const moved = await store.move(tx, row, "running", change);
      if (moved === null) throw new Error(`Import ${row.id} was moved during its upload.`);
      const task = await imports.addImport(tx, configuration, row, {
        storage_provider_id: row.storage_provider_id,
        path: row.path,
        size,
        name,
        upload: { checksum, is_sealed: key !== null },
      });
      // Before the transaction ends, because the task may begin a moment later.
      if (key !== null) fileKeys.keep(task, { own: key, base: null });
      return moved;
    });

  async function receiveOne(
    target: Target,
    sent: Sent,
    { storage, room, isSealed, signal }: Receiving,
  ): Promise<BackupRow> {
    const begun = await begin(target, storage, sent);
    try {
      const received = await uploads.receive({
        id: begun.row.id,
        content: sent.content,
        storage,
        key: begun.row.path,
        isSealed,
        room,
        onProgress: reportProgress(begun.row),
        signal,
      });
      return await wait(begun, received);
    } catch (error) {
      const reason = await fail(begun.row, begun.configuration, error);
      throw operatorMessage(error) === null && !signal.aborted ? error : conflict(reason);
    } finally {
      uploads.forget(begun.row.id);
    }
  }

  return {
    /**
     * @returns the row, once the whole file is in its storage
     * @throws ServiceError for an empty or too large file, a failed storage, or a client that disconnects
     */
    async receive(target: Target, sent: Sent, signal: AbortSignal): Promise<BackupRow> {
      const { fields, sizeBytes } = sent;
      if (sizeBytes === 0) throw new InvalidFields({ file: ["The file is empty."] });
      const storage = await imports.openStorage(fields.storage_provider_id);
      const room = await importRoomIn(storage).catch(asConflict);
      if (sizeBytes !== null && sizeBytes > room.bytes) throw tooLarge(room);
      const isSealed =
        (await resolver.encryption(fields.storage_provider_id).catch(asConflict)) !== null;
      if (atOnce >= maxAtOnce)
        throw conflict(
          `${maxAtOnce} files are being uploaded already. Try again once one of them is done.`,
        );
      atOnce += 1;
      try {
        return await receiveOne(target, sent, { storage, room, isSealed, signal });
      } finally {
        atOnce -= 1;
      }
    },

    /** Fails uploads that an earlier run of the service, or an instance that is gone, was receiving. */
    async interruptOrphans(elsewhere: readonly number[]): Promise<void> {
      for (const { backup, configuration } of await importStore.withoutTask(elsewhere))
        if (!uploads.has(backup.id)) await fail(backup, configuration, new Interrupted(cutOff));
    },
  };
}

export type ReceiveUpload = ReturnType<typeof createReceiveUpload>;
