// Stores what a run dumps: as changes since the newest full where the configuration says so and all that takes is there, else in full.
import { pipeline } from "node:stream/promises";
import { dirname } from "node:path/posix";
import { isOfRun } from "../../contract/backups/backup.ts";
import type { Clock } from "../clock.ts";
import { findFileKey, RefusedIdentity, type FileKey } from "../encryption/decrypt.ts";
import { isEncrypted } from "../encryption/encrypt.ts";
import type { LocalHost } from "../hosts/host.ts";
import type { Scratch } from "../hosts/scratch.ts";
import type { Claim } from "../jobs/job-runner.ts";
import type { Storage } from "../storage/storage.ts";
import type { BackupRow, BackupStore } from "./backup-store.ts";
import { DamagedBase, openBase } from "./chain.ts";
import type { ChainStore } from "./chain-store.ts";
import { chooseBase, machineComplaint, type Machine } from "./choose-base.ts";
import type { ConfigurationRow, ConfigurationStore } from "./configuration-store.ts";
import { dumpToFile } from "./dump-to-file.ts";
import { sizeInWords } from "./formatting.ts";
import type { NoteDamage } from "./note-damage.ts";
import { hasZstd, maxContentBytes, writePatch } from "./patch.ts";
import { storeDump, type Stored, type StoreOptions } from "./pipeline.ts";
import type { RecoveryWriter } from "./recovery-writer.ts";
import type { Resolver } from "./resolver.ts";
import type { Recipients } from "./stored-manifest.ts";
import { areSame, recipientsOf } from "./stored-recipients.ts";
import type { TaskStore } from "./task-store.ts";
import { freeBytesIn, NoRoom, openUnnamedFile, type UnnamedFile } from "./unnamed-file.ts";

type IncrementalOptions = {
  store: Pick<BackupStore, "transaction" | "finished" | "lock">;
  chainStore: Pick<ChainStore, "setFile">;
  configurations: Pick<ConfigurationStore, "lock">;
  tasks: Pick<TaskStore, "hold">;
  resolver: Pick<Resolver, "drillIdentity">;
  note: NoteDamage;
  recovery: Pick<RecoveryWriter, "request">;
  host: Pick<LocalHost, "run">;
  scratch: Pick<Scratch, "own">;
  clock: Clock;
};

type Run = {
  /** It runs, and its path is that of a full. */
  row: BackupRow;
  configuration: ConfigurationRow;
  /** Of its file where that holds changes. */
  patchPath: string;
  storage: Storage;
  recipients: Recipients | null;
  claim: Claim;
  say(line: string): void;
  /** Called with the row whenever it was changed. */
  onRow(row: BackupRow): void;
};

type Storing = {
  /** The full whose changes are stored, so far; null = a full is stored. */
  base(): BackupRow | null;
  /** @throws like `storeDump` */
  store(options: Omit<StoreOptions, "storage" | "key">): Promise<Stored>;
  /** To be called in any case. */
  close(): Promise<void>;
};

export function createIncremental(options: IncrementalOptions) {
  const { store, chainStore, configurations, tasks, resolver, note, recovery, clock } = options;
  const { host, scratch } = options;
  const folder = scratch.own;
  const machine = async (): Promise<Machine> => ({
    memoryBytes: process.availableMemory(),
    diskBytes: await freeBytesIn(folder),
  });

  /** @returns the full, or why the run stores one of its own */
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
    return choice;
  }

  /** Holds the full until the run is over, unless somebody deletes it just now. */
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

  /** @returns its content, or why it cannot be had */
  async function readBase(
    { storage, claim, configuration }: Run,
    base: BackupRow,
    signal: AbortSignal,
  ): Promise<UnnamedFile | string> {
    const key = await keyOf(storage, base, signal);
    if (typeof key === "string") return key;
    const file = await openUnnamedFile(folder);
    try {
      await pipeline(openBase(storage, base, key, signal), file.writer(), { signal });
      return file;
    } catch (error) {
      await file.close();
      if (error instanceof NoRoom) return "the data folder is full";
      if (!(error instanceof DamagedBase)) throw error;
      await store.transaction(async (tx) => {
        await tasks.hold(tx, claim);
        await note.damaged(tx, configuration, base, error, new Date(clock.now()));
      });
      recovery.request(base.storage_provider_id);
      return `backup ${base.id}, the last full one, is damaged: ${error.damage}`;
    }
  }

  /** @returns null where none is needed, or why there is none */
  async function keyOf(
    storage: Storage,
    { id, path, storage_provider_id: providerId }: BackupRow,
    signal: AbortSignal,
  ): Promise<FileKey | string | null> {
    if (!isEncrypted(path)) return null;
    const identity = await resolver.drillIdentity(providerId);
    if (identity === null)
      return "backups there are encrypted, and the storage provider has no drill_identity to read the last full one";
    try {
      return await findFileKey(() => storage.get(path, { signal }), { identity });
    } catch (error) {
      if (error instanceof RefusedIdentity)
        return `the storage provider's drill_identity doesn't open backup ${id}, the last full one`;
      throw error;
    }
  }

  return {
    /** Reads the full, where there is one to be used. @throws StorageError, or the signal's reason */
    async begin(run: Run, signal: AbortSignal): Promise<Storing> {
      const { storage, say } = run;
      let { row } = run;
      const { path } = row;
      let base: { row: BackupRow; file: UnnamedFile } | null = null;

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

      if (run.configuration.incremental && isOfRun(row) && row.trigger !== "import") {
        const choice = await choose(run, signal);
        const claimed = "base" in choice ? await claimBase(run, choice.base) : null;
        if (!("base" in choice)) sayFull(choice.reason);
        else if (claimed === null) sayFull(`backup ${choice.base.id} is being deleted`);
        else {
          moved(claimed);
          const file = await readBase(run, choice.base, signal);
          if (typeof file === "string") await giveUp(file);
          else base = { row: choice.base, file };
        }
      }

      async function storeChanges(
        dumped: Omit<StoreOptions, "storage" | "key">,
        full: { row: BackupRow; file: UnnamedFile },
      ): Promise<Stored> {
        const content = await openUnnamedFile(folder);
        try {
          const manifest = await dumpToFile(content, dumped);
          const sizes = { baseBytes: full.file.sizeBytes(), contentBytes: content.sizeBytes() };
          const complaint =
            manifest === null
              ? `the content is larger than ${sizeInWords(maxContentBytes)}, or than what is free in the data folder`
              : machineComplaint(await machine(), { ...sizes, isWritten: true });
          if (complaint !== null) await giveUp(complaint);
          // Nothing of it is of use then, and the source is dumped anew.
          if (manifest === null) return await storeDump({ ...dumped, storage, key: row.path });
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
        store: (dumped) =>
          base === null
            ? storeDump({ ...dumped, storage, key: row.path })
            : storeChanges(dumped, base),
        close,
      };
    },
  };
}

export type Incremental = ReturnType<typeof createIncremental>;
