// Stores the dump of a run: as changes since the newest full where the configuration wants that and it is possible, otherwise in full.
import { pipeline } from "node:stream/promises";
import { dirname } from "node:path/posix";
import { isOfRun } from "../../../contract/backups/backup.ts";
import type { LocalHost } from "../../hosts/host.ts";
import type { Claim } from "../../jobs/job-runner.ts";
import type { Storage } from "../../storage/storage.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { ChainStore } from "./chain-store.ts";
import { chooseBase, machineComplaint, type Machine } from "./choose-base.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import { dumpToFile } from "./dump-to-file.ts";
import { sizeInWords } from "../formatting.ts";
import { hasZstd, maxContentBytes, writePatch } from "./patch.ts";
import { storeDump, type Stored, type StoreOptions } from "../pipeline/store-dump.ts";
import { checkSize, DamagedBackup } from "../pipeline/read-verified.ts";
import { createReadBase, type ReadBaseOptions } from "./read-base.ts";
import type { Source } from "../sources/source.ts";
import { findSame, isSealedAlike, storeAgain } from "./store-again.ts";
import type { Recipients } from "../recovery/stored-manifest.ts";
import { areSame, recipientsOf } from "../recovery/stored-recipients.ts";
import { untilAborted } from "../pipeline/together.ts";
import { freeBytesIn, openUnnamedFile, type UnnamedFile } from "./unnamed-file.ts";

type IncrementalOptions = ReadBaseOptions & {
  store: Pick<BackupStore, "finished">;
  chainStore: Pick<ChainStore, "setFile">;
  host: Pick<LocalHost, "run">;
};

type Run = {
  /** Running; its path is that of a full. */
  row: BackupRow;
  configuration: ConfigurationRow;
  source: Pick<Source, "state" | "hooks">;
  /** Path of its file where that has changes. */
  patchPath: string;
  storage: Storage;
  recipients: Recipients | null;
  claim: Claim;
  say(line: string): void;
  /** Called with the row after each change. */
  onRow(row: BackupRow): void;
};

type Dumped = Omit<StoreOptions, "storage" | "key">;

type Storing = {
  /** Returns the full that changes are stored against, so far; null = a full is stored. */
  base(): BackupRow | null;
  /** Returns the source's state, if it was the same during the whole dump. */
  state(): string | null;
  /** To be called once the source's hook has run. @throws like `storeDump` */
  store(options: Dumped): Promise<Stored>;
  /** To be called in any case. */
  close(): Promise<void>;
};

export function createIncremental(options: IncrementalOptions) {
  const { store, chainStore, configurations, tasks, host, scratch, clock } = options;
  const { readBase, noteDamage } = createReadBase(options);
  const folder = scratch.own;
  const machine = async (): Promise<Machine> => ({
    memoryBytes: process.availableMemory(),
    diskBytes: await freeBytesIn(folder),
  });

  /** @returns the full to use, or why the run stores a new one */
  async function choose({ row, configuration, storage, recipients }: Run, signal: AbortSignal) {
    const finished = await store.finished(configuration.id);
    const choice = chooseBase(finished, {
      storageProviderId: row.storage_provider_id,
      folder: dirname(row.path),
      willBeEncrypted: recipients !== null,
      at: new Date(clock.now()),
    });
    if (!("base" in choice)) return choice;
    const { base } = choice;
    if (!(await hasZstd(host))) return { reason: "zstd isn't installed on Quarterdeck's machine" };
    const sizes = {
      baseBytes: base.plain_size,
      contentBytes: finished.find(isOfRun)?.plain_size ?? 0,
    };
    const complaint = machineComplaint(await machine(), sizes);
    if (complaint !== null) return { reason: complaint };
    const its = recipients === null ? null : await recipientsOf(storage, base, signal);
    if (recipients !== null && (its === null || !areSame(its, recipients)))
      return { reason: `backup ${base.id}, the last full one, is encrypted to other recipients` };
    return { ...choice, finished };
  }

  /** Stores that the run needs the full, so that it is not deleted, unless it is being deleted already. */
  const claimBase = ({ row, configuration, patchPath, claim }: Run, base: BackupRow) =>
    store.transaction(async (tx) => {
      await configurations.lock(tx, configuration.id);
      await tasks.hold(tx, claim);
      if ((await store.lock(tx, base.id))?.status !== "finished") return null;
      return chainStore.setFile(tx, row, { path: patchPath, base_id: base.id });
    });

  const releaseBase = ({ claim }: Run, row: BackupRow, path: string) =>
    store.transaction(async (tx) => {
      await tasks.hold(tx, claim);
      return chainStore.setFile(tx, row, { path, base_id: null });
    });

  /** Whether the changes of a backup can be stored again. Damage of the full is found when it is read. */
  async function isUsable(
    { storage, recipients }: Run,
    same: BackupRow,
    full: BackupRow,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      await checkSize(storage, full, signal);
    } catch (error) {
      if (error instanceof DamagedBackup) return false;
      throw error;
    }
    return isSealedAlike(storage, same, recipients, signal);
  }

  /** Returns the source's state; null where it fails, because a run can read everything instead. */
  async function stateOf({ source }: Run, signal: AbortSignal): Promise<string | null> {
    try {
      return (await untilAborted(signal, source.state?.(signal) ?? Promise.resolve(null))) ?? null;
    } catch {
      signal.throwIfAborted();
      return null;
    }
  }

  return {
    /** Reads the full, if one is used and the source has changed. @throws StorageError, or the signal's reason */
    async begin(run: Run, signal: AbortSignal): Promise<Storing> {
      const { storage, say } = run;
      let { row } = run;
      const { path } = row;
      let base: { row: BackupRow; file: UnnamedFile | null } | null = null;
      let state: string | null = null;
      let finished: BackupRow[] = [];

      const close = async () => {
        const file = base?.file;
        base = null;
        await file?.close();
      };
      const moved = (changed: BackupRow) => {
        row = changed;
        run.onRow(row);
      };
      const sayFull = (reason: string) => say(`Storing a full backup: ${reason}.`);
      async function giveUp(reason: string): Promise<void> {
        await close();
        moved(await releaseBase(run, row, path));
        sayFull(reason);
      }

      const isIncremental =
        run.configuration.incremental && isOfRun(row) && row.trigger !== "import";
      if (isIncremental) {
        const choice = await choose(run, signal);
        const claimed = "base" in choice ? await claimBase(run, choice.base) : null;
        if (!("base" in choice)) sayFull(choice.reason);
        else if (claimed === null) sayFull(`backup ${choice.base.id} is being deleted`);
        else {
          moved(claimed);
          finished = choice.finished;
          base = { row: choice.base, file: null };
          state = await stateOf(run, signal);
          // Before the hook, because that may stop the application.
          if (findSame(finished, choice.base, state) === null) await readFull(choice.base, signal);
        }
      }

      /** @returns null where a full is to be stored instead */
      async function readFull(full: BackupRow, reading: AbortSignal) {
        const file = await readBase(run, full, reading);
        if (typeof file !== "string") {
          base = { row: full, file };
          return file;
        }
        await giveUp(file);
        return null;
      }

      /** Stores a full, with the source's state for comparison by the next run. */
      async function storeFull(dumped: Dumped): Promise<Stored> {
        // A hook may have changed files.
        const before = isIncremental ? await stateOf(run, dumped.signal) : null;
        const stored = await storeDump({ ...dumped, storage, key: row.path });
        state = before;
        await keepState(dumped.signal);
        return stored;
      }

      /** Drops the state where the source has changed since it was read. */
      async function keepState(after: AbortSignal): Promise<void> {
        if (state !== null && (await stateOf(run, after)) !== state) state = null;
      }

      /** @returns null where the changes have to be computed */
      async function storeSame(dumped: Dumped, full: BackupRow): Promise<Stored | null> {
        const same = findSame(finished, full, state);
        if (same === null) return null;
        if (!(await isUsable(run, same, full, dumped.signal))) return null;
        say(
          same === full
            ? `Nothing has changed since backup ${same.id} (full), by the files' times: stored as a reference to its content. Its file is in place and wasn't read.`
            : `Nothing has changed since backup ${same.id}, by the files' times: its changes are stored again.`,
        );
        const { encrypt = null, pace, signal: ending, onProgress } = dumped;
        const options = { storage, key: row.path, encrypt, pace, signal: ending, onProgress };
        try {
          return await storeAgain(same, options);
        } catch (error) {
          if (!(error instanceof DamagedBackup) || ending.aborted) throw error;
          say(`Couldn't use backup ${same.id}: ${error.message} Reading everything.`);
          await noteDamage(run, same, error);
          return null;
        }
      }

      async function storeChanges(
        dumped: Dumped,
        full: { row: BackupRow; file: UnnamedFile },
      ): Promise<Stored> {
        const content = await openUnnamedFile(folder);
        try {
          const manifest = await dumpToFile(content, dumped);
          await keepState(dumped.signal);
          const sizes = { baseBytes: full.file.sizeBytes(), contentBytes: content.sizeBytes() };
          const complaint =
            manifest === null
              ? `the content is larger than ${sizeInWords(maxContentBytes)}, or than what is free in the data folder`
              : machineComplaint(await machine(), { ...sizes, isWritten: true });
          if (complaint !== null) await giveUp(complaint);
          // Without a manifest the dump in the file is incomplete, so the source is dumped again.
          if (manifest === null) return await storeFull(dumped);
          const { compressionLevel } = dumped;
          const whole = { ...dumped, storage, key: row.path, compressed: null };
          if (complaint !== null)
            return await storeDump({
              ...whole,
              async dump(into, ending) {
                await pipeline(content.read(), into, { signal: ending });
                return manifest;
              },
            });
          const stored = await storeDump({
            ...whole,
            packedBytes: content.sizeBytes,
            async dump(into, ending) {
              const changed = { base: full.file, content, compressionLevel };
              await writePatch(host, changed, into, ending);
              return manifest;
            },
          });
          say(
            `Stored as changes since backup ${full.row.id} (full, ${sizeInWords(full.row.size)}): ${sizeInWords(stored.sizeBytes)}.`,
          );
          return stored;
        } finally {
          await content.close();
        }
      }

      return {
        base: () => base?.row ?? null,
        state: () => state,
        async store(dumped) {
          const full = base;
          if (full !== null) {
            // A hook may change files.
            if (run.source.hooks !== undefined) state = await stateOf(run, dumped.signal);
            const same = await storeSame(dumped, full.row);
            if (same !== null) return same;
            const file = full.file ?? (await readFull(full.row, dumped.signal));
            if (file !== null) return storeChanges(dumped, { row: full.row, file });
          }
          return storeFull(dumped);
        },
        close,
      };
    },
  };
}

export type Incremental = ReturnType<typeof createIncremental>;
