// Takes one backup: runs the source's dump into the storage, and stores the outcome. Used by runs, and for safety backups.
import type { Claim } from "../../jobs/job-runner.ts";
import type { Connection } from "../../store/database.ts";
import { comparedBackups } from "./anomalies.ts";
import type { BackupRow } from "../backup-store.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import { encryptedEnding } from "../../encryption/encrypt.ts";
import { createOutput, type Output } from "../output.ts";
import { createPace } from "../pipeline/pacer.ts";
import type { Incremental } from "../incremental/incremental.ts";
import { lockStored } from "./lock-stored.ts";
import type { Stored } from "../pipeline/store-dump.ts";
import { createRecordOutcome, type RecordOutcomeOptions } from "./record-outcome.ts";
import type { Origin, Source } from "../sources/source.ts";
import { StorageError, type Storage } from "../../storage/storage.ts";
import type { TaskStore } from "../tasks/task-store.ts";
import { sizeInWords } from "../formatting.ts";
import type { RecoveryWriter } from "../recovery/recovery-writer.ts";
import { createRunnerParts } from "./runner-parts.ts";
import { patchEnding } from "../stored-file.ts";
import { makeManifest, putManifest, type Recipients } from "../recovery/stored-manifest.ts";
import { untilAborted } from "../pipeline/together.ts";
import { failureMessage } from "../failure-message.ts";

type TakeBackupOptions = RecordOutcomeOptions & {
  tasks: TaskStore;
  incremental: Incremental;
  recovery: Pick<RecoveryWriter, "request">;
  /** Version of the service. */
  version: string;
};

const noWarnings: Promise<string[]> = Promise.resolve([]);

/** Identifies the processes of a run; unique over all installations on a server. */
const markOf = ({ id, started_at }: BackupRow) => `${id}-${started_at.getTime()}`;

/** Folder of a configuration's files in its storage. */
export const folderOf = ({ directory, id }: Pick<ConfigurationRow, "directory" | "id">): string =>
  `${directory}/${id}`;

/**
 * `<directory>/<configuration>/<backup>-<time>-<attempt>.<extension>`, so that no two configurations share a name, and no
 * runner that was thought dead writes to one of another attempt.
 */
export function objectKey(
  configuration: Pick<ConfigurationRow, "directory" | "id">,
  backupId: number,
  at: Date,
  attempt: number,
  extension: string,
  willBeEncrypted = false,
): string {
  const time = at.toISOString().replace(/[-:]|\.\d+/g, "");
  return `${folderOf(configuration)}/${backupId}-${time}-${attempt}.${extension}.zst${willBeEncrypted ? encryptedEnding : ""}`;
}

export function createTakeBackup(options: TakeBackupOptions) {
  const { store, configurations, tasks, resolver, clock } = options;
  const { finish, fail } = createRecordOutcome(options);
  const { reportProgress, storeFailure } = createRunnerParts(options);
  const now = () => new Date(clock.now());

  /**
   * Refuses a run for which the storage has too little space.
   * @param isFull whether a full is stored, which takes more than changes
   */
  async function checkRoom(
    storage: Storage,
    { before, isFull }: { before: BackupRow[]; isFull: boolean },
    output: Output,
  ): Promise<void> {
    const free = await storage.freeBytes();
    if (free === null) return;
    const last = before.find(({ base_id: baseId }) => (baseId === null) === isFull)?.size ?? 0;
    output.say(`${sizeInWords(free)} free in ${storage.place}.`);
    if (free < last)
      throw new StorageError(
        `Not enough space in ${storage.place}: ${sizeInWords(free)} free, and the last backup was ${sizeInWords(last)}. Free some space or delete old backups.`,
      );
  }

  /** Updates the warnings of the configuration, which may have changed since the rehearsal. */
  async function noteWarnings(
    source: Source,
    configuration: ConfigurationRow,
    output: Output,
    signal: AbortSignal,
    claim: Claim,
  ): Promise<void> {
    const warnings = (await untilAborted(signal, source.warnings?.(signal) ?? noWarnings)) ?? [];
    for (const warning of warnings) output.say(warning);
    await store.transaction(async (tx) => {
      await configurations.setInstallWarnings(tx, configuration.id, warnings);
      await tasks.hold(tx, claim);
    });
  }

  /** Runs are limited in speed. Safety backups are not, because a restore waits for them. */
  const paceOf = ({ trigger }: BackupRow, { bytes_per_second: limit }: ConfigurationRow) =>
    limit === null || trigger === "safety" ? null : createPace(limit, clock);

  /** Runs the second hook of a run that was killed, which may end a maintenance mode, for example. */
  async function runLeftHook(
    row: BackupRow,
    configuration: ConfigurationRow,
    output: Output,
  ): Promise<void> {
    if (row.status !== "running" || row.trigger === "import") return;
    try {
      const hooks = await resolver.hooks(configuration);
      const reason = await hooks?.after(output.say, markOf(row));
      if (reason) output.say(reason);
    } catch (error) {
      output.say(`The hook after the backup couldn't run: ${failureMessage(error)}`);
    }
  }

  /**
   * Stores the manifest beside a stored file.
   * @returns what the row keeps of it
   */
  async function putBeside(
    row: BackupRow,
    configuration: ConfigurationRow,
    source: Source,
    {
      storage,
      ...file
    }: {
      storage: Storage;
      stored: Stored;
      base: BackupRow | null;
      recipients?: Recipients | undefined;
    },
    signal: AbortSignal,
  ): Promise<Origin> {
    const subject = await resolver.describe(configuration, source);
    const { version } = options;
    const made = { subject, configuration, row, ...file, storedAt: now(), version };
    await untilAborted(signal, putManifest(storage, row.path, makeManifest(made), signal));
    const { database, path, tools } = subject;
    return {
      tools,
      ...(database !== undefined && { database }),
      ...(path !== undefined && { path }),
    };
  }

  return {
    /**
     * Runs a waiting backup to its outcome, which it stores.
     * @param claim claim of the job that includes this run
     * @param also makes further changes in the transaction of the outcome; throws if the claim is lost
     * @param openSource by default, opens the source of the configuration
     * @throws ClaimLost
     * @returns the row, which is finished or waits for its copy; null if the backup failed, with the reason in the row
     */
    async take(
      waiting: BackupRow,
      configuration: ConfigurationRow,
      signal: AbortSignal,
      {
        claim,
        also,
        openSource = () => resolver.source(configuration),
      }: { claim: Claim; also(tx: Connection): Promise<void>; openSource?(): Promise<Source> },
    ): Promise<BackupRow | null> {
      const output = createOutput();
      const runner = { also, isOwn: true, signal };
      let row = waiting;
      try {
        const startedAt = now();
        // Imports are not compared with earlier backups.
        const before =
          waiting.trigger === "import"
            ? []
            : await store.finishedRuns(configuration.id, comparedBackups);
        const source: Source = await openSource();
        const storage = await resolver.storage(waiting.storage_provider_id);
        const encryption = await resolver.encryption(waiting.storage_provider_id);
        const keyOf = (extension: string) =>
          objectKey(
            configuration,
            waiting.id,
            startedAt,
            claim.attempt,
            extension,
            encryption !== null,
          );
        const path = keyOf(source.extension);
        const running = await store.transaction(async (tx) => {
          const moved = await store.move(tx, waiting, "running", { started_at: startedAt, path });
          await tasks.hold(tx, claim);
          return moved;
        });
        if (running === null) return null;
        row = running;
        output.say(await untilAborted(signal, source.rehearse(signal)));
        if (row.trigger !== "import")
          await noteWarnings(source, configuration, output, signal, claim);
        const storing = await options.incremental.begin(
          {
            row,
            configuration,
            source,
            patchPath: keyOf(source.extension + patchEnding),
            storage,
            recipients: encryption?.recipients ?? null,
            claim,
            say: output.say,
            onRow: (changed) => (row = changed),
          },
          signal,
        );
        const bytes = { plainBytes: 0, storedBytes: 0 };
        let stored: Stored;
        let base = storing.base();
        let afterWarning: string | null | undefined;
        try {
          await untilAborted(signal, checkRoom(storage, { before, isFull: base === null }, output));
          const endReport = reportProgress(row, output, bytes, claim);
          const compressionLevel = configuration.compression_level ?? undefined;
          try {
            const use = { isUnpacked: base !== null };
            const compressed = (await source.compressed?.(signal, use)) ?? null;
            await source.hooks?.before(output.say, signal, markOf(row));
            stored = await storing.store({
              dump: (into, ending) =>
                (compressed ?? source).dump(into, {
                  id: row.id,
                  say: output.say,
                  signal: ending,
                  compressionLevel,
                }),
              compressed,
              compressionLevel,
              pace: paceOf(row, configuration),
              encrypt: encryption?.encrypt ?? null,
              signal,
              onProgress: (progress) => Object.assign(bytes, progress),
            });
            base = storing.base();
          } finally {
            // The second hook also runs if the first one failed.
            afterWarning = await source.hooks?.after(output.say);
            if (afterWarning) output.say(afterWarning);
            await endReport();
          }
        } finally {
          await storing.close();
        }
        const file = { storage, stored, base, recipients: encryption?.recipients };
        const origin = await putBeside(row, configuration, source, file, signal);
        const locked = await untilAborted(
          signal,
          lockStored({ storage, path: row.path, base, at: now() }, signal),
        );
        const outcome = {
          ...stored,
          origin,
          state: storing.state(),
          warnings: [afterWarning, locked.warning].flatMap((one) => one || []),
          lockedUntil: locked.until,
        };
        const finished = await finish(row, configuration, outcome, output, before, runner);
        options.recovery.request(finished.storage_provider_id, finished.id);
        return finished;
      } catch (error) {
        await storeFailure(row, error, () => fail(row, configuration, error, output, runner));
        return null;
      }
    },

    /** Fails a backup that a stop or crash of the service interrupted. */
    async interrupt(
      row: BackupRow,
      configuration: ConfigurationRow,
      reason: Error,
      also: (tx: Connection) => Promise<void>,
    ): Promise<void> {
      const output = createOutput(row.output);
      await runLeftHook(row, configuration, output);
      // Settling it again is safe.
      const runner = { also, isOwn: false, signal: AbortSignal.abort() };
      await fail(row, configuration, reason, output, runner);
    },
  };
}

export type TakeBackup = ReturnType<typeof createTakeBackup>;
