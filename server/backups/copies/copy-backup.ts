// Performs a copy: reads the stored file of a run and stores it in the second storage.
import { pipeline } from "node:stream/promises";
import { utcText } from "../../../contract/values.ts";
import type { Claim } from "../../jobs/job-runner.ts";
import type { Connection } from "../../store/database.ts";
import { StorageError, type Storage } from "../../storage/storage.ts";
import { readAdopted } from "../adoption/adopted-manifest.ts";
import type { BackupRow } from "../backup-store.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import { createCopyContent, type CopyContent, type CopyContentOptions } from "./copy-content.ts";
import { createCopyOutcome, type CopyOutcomeOptions } from "./copy-outcome.ts";
import { shortDuration, sizeInWords } from "../formatting.ts";
import { lockStored, type Locked } from "../run/lock-stored.ts";
import { createOutput } from "../output.ts";
import { createPace, delay } from "../pipeline/pacer.ts";
import { storeDump, type Stored } from "../pipeline/store-dump.ts";
import type { EntryResolver, Resolver } from "../resolver.ts";
import { createRunnerParts } from "../run/runner-parts.ts";
import { createPrepareCopy, type CopyWork, type PreparedCopy } from "./prepare-copy.ts";
import type { Manifest, Origin } from "../sources/source.ts";
import { makeManifest, putManifest, type Recipients } from "../recovery/stored-manifest.ts";
import type { TaskStore } from "../tasks/task-store.ts";
import { untilAborted } from "../pipeline/together.ts";

type CopyBackupOptions = CopyOutcomeOptions &
  CopyContentOptions & {
    tasks: TaskStore;
    resolver: Resolver & Pick<EntryResolver, "encryptionOf">;
    /** Version of the service. */
    version: string;
  };

/** Pauses between attempts after a failure of a storage, while a run waits for its copy. Other copies are attempted once. */
const waitsMs = [10_000, 60_000];
/** After a recent failure of a storage, a copy is attempted once, because pauses delay all tasks in the server's queue. */
const awayForMs = 10 * 60_000;

export function createCopyBackup(options: CopyBackupOptions) {
  const { store, tasks, copyQueue, resolver, jobs, clock, log } = options;
  const contents = createCopyContent(options);
  const prepare = createPrepareCopy({ contents, copyQueue, resolver });
  const { finish, fail, endUnbegun, release } = createCopyOutcome(options);
  const { reportProgress, storeFailure } = createRunnerParts(options);
  /** By storage provider: when the last attempt of a copy failed, in milliseconds since 1970. */
  const failedAt = new Map<number, number>();

  async function putBeside(
    copy: BackupRow,
    { run, configuration, signal }: CopyWork,
    file: {
      storage: Storage;
      stored: Stored;
      base: BackupRow | null;
      recipients: Recipients | undefined;
    },
  ): Promise<void> {
    // Was stored as an origin.
    const { database, path, tools } = (run.manifest?.["origin"] ?? { tools: {} }) as Origin;
    const source = { ...(database !== undefined && { database }), tools: () => tools };
    const subject = await resolver.describe(configuration, source);
    const made = makeManifest({
      ...file,
      subject: { ...subject, ...(path !== undefined && { path }) },
      configuration,
      row: { ...copy, started_at: run.started_at },
      storedAt: new Date(clock.now()),
      version: options.version,
    });
    await untilAborted(signal, putManifest(file.storage, copy.path, made, signal));
  }

  /** Attempts to copy the file once. @param copy the row with the path of its file */
  async function copyFile(
    copy: BackupRow,
    storage: Storage,
    { base, isPacked, open }: CopyContent,
    { encrypt, recipients }: PreparedCopy["encryption"],
    work: CopyWork,
  ): Promise<Stored & { locked: Locked }> {
    const { run, configuration, output, signal, claim } = work;
    // Was stored as a manifest; older rows have none.
    const manifest = run.manifest as Manifest | null;
    const bytes = { plainBytes: 0, storedBytes: 0 };
    const endReport = reportProgress(copy, output, bytes, claim);
    const { bytes_per_second: limit } = configuration;
    try {
      const stored = await storeDump({
        storage,
        key: copy.path,
        async dump(into, ending) {
          await pipeline(await open(ending), into, { signal: ending });
          return manifest ?? { kind: "database", tables: {} };
        },
        isPacked,
        compressionLevel: configuration.compression_level ?? undefined,
        pace: limit === null ? null : createPace(limit, clock),
        encrypt,
        signal,
        onProgress: ({ storedBytes }) =>
          Object.assign(bytes, { plainBytes: storedBytes, storedBytes }),
      });
      const whole = { ...stored, plainBytes: run.plain_size };
      if (manifest !== null)
        await putBeside(copy, work, { storage, stored: whole, base, recipients });
      const file = { storage, path: copy.path, base, at: new Date(clock.now()) };
      return { ...whole, locked: await untilAborted(signal, lockStored(file, signal)) };
    } finally {
      await endReport();
    }
  }

  /** Stores the path of the new file, and queues the removal of the previous attempt's file. */
  const rename = (
    copy: BackupRow,
    { path, content }: Pick<PreparedCopy, "path" | "content">,
    { configuration, claim }: CopyWork,
  ) =>
    store.transaction(async (tx) => {
      const renamed = await store.move(tx, copy, "running", { path });
      if (renamed === null) throw new Error(`Backup ${copy.id} was moved while it was copied.`);
      const { storage_provider_id, path: before } = copy;
      const { server_id } = configuration;
      if (before !== "")
        await jobs.send(tx, "backup.clean", { storage_provider_id, path: before, server_id });
      await tasks.hold(tx, claim);
      return contents.hold(tx, renamed, content.base);
    });

  /** Copies the file, with all attempts. @param at has the current row of the copy, also after a failure */
  async function copyAtLast(at: { row: BackupRow }, work: CopyWork) {
    const { run, output, signal, claim } = work;
    const { storage_provider_id: provider } = at.row;
    const isAwaited = run.status === "running";
    const wasAway = clock.now() - (failedAt.get(provider) ?? -Infinity) < awayForMs;
    for (let tried = 0; ; tried++)
      try {
        // Makes the file's name unique, even among attempts.
        const number = claim.attempt * (waitsMs.length + 1) + tried;
        const prepared = await prepare(at.row, number, work);
        at.row = await rename(at.row, prepared, work);
        const { storage, content, encryption } = prepared;
        const stored = await copyFile(at.row, storage, content, encryption, work);
        failedAt.delete(provider);
        return stored;
      } catch (error) {
        if (!(error instanceof StorageError) || signal.aborted) throw error;
        const waitMs = isAwaited && !wasAway ? waitsMs[tried] : undefined;
        if (waitMs === undefined) {
          failedAt.set(provider, clock.now());
          throw error;
        }
        output.say(`${error.message} Trying again in ${shortDuration(waitMs)}.`);
        await store.progress(at.row.id, { output: output.text() }, tasks.isHeld(claim));
        await delay(waitMs, clock, signal);
      }
  }

  const markStorage = ({ storage_provider_id: provider }: BackupRow) =>
    resolver.markStorage(provider).catch((error: unknown) => {
      // The copy is stored nevertheless; the next copy marks the storage.
      log.warn({ err: error, provider }, "a storage was not marked");
    });

  return {
    endUnbegun,
    release,

    /**
     * Performs a pending copy, and stores its outcome.
     * @param also runs in the transaction of the outcome; throws where the claim is lost
     * @throws ClaimLost
     * @returns false where its status was changed meanwhile
     */
    async perform(
      waiting: BackupRow,
      configuration: ConfigurationRow,
      signal: AbortSignal,
      { claim, also }: { claim: Claim; also(tx: Connection): Promise<void> },
    ): Promise<boolean> {
      const output = createOutput();
      const runner = { also, isOwn: true, signal };
      const at = { row: waiting };
      try {
        const started = await store.transaction(async (tx) => {
          const change = { started_at: new Date(clock.now()) };
          const moved = await store.move(tx, waiting, "running", change);
          await tasks.hold(tx, claim);
          return moved;
        });
        if (started === null) return false;
        at.row = started;
        const found = started.copy_of_id === null ? null : await store.byId(started.copy_of_id);
        if (found === null) throw new StorageError("The backup to copy was deleted.");
        const run = { ...found, manifest: await readAdopted(found, options, signal) };
        const stored = await copyAtLast(at, { run, configuration, output, signal, claim });
        output.say(`Stored ${sizeInWords(stored.sizeBytes)}; ${stored.verification}.`);
        await markStorage(at.row);
        const { sizeBytes: size, checksum, locked } = stored;
        if (locked.until !== null) output.say(`Locked until ${utcText(locked.until)}.`);
        if (locked.warning !== null) output.say(`Warning: ${locked.warning}`);
        const facts = {
          size,
          checksum,
          plain_size: run.plain_size,
          manifest: run.manifest,
          locked_until: locked.until,
          warnings: locked.warning === null ? [] : [locked.warning],
        };
        await finish(at.row, configuration, facts, output, runner);
      } catch (error) {
        const { row } = at;
        await storeFailure(row, error, () => fail(row, configuration, error, output, runner));
      }
      return true;
    },

    /** Fails a copy that a stop or crash of the service interrupted. */
    async interrupt(
      row: BackupRow,
      configuration: ConfigurationRow,
      reason: Error,
      also: (tx: Connection) => Promise<void>,
    ): Promise<void> {
      // Settling it again is safe.
      const runner = { also, isOwn: false, signal: AbortSignal.abort() };
      await fail(row, configuration, reason, createOutput(row.output), runner);
    },
  };
}

export type CopyBackup = ReturnType<typeof createCopyBackup>;
