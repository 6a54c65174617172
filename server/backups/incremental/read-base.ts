// Reads the full that a run stores changes against, and stores damage of what the run reads.
import { pipeline } from "node:stream/promises";
import type { Clock } from "../../clock.ts";
import { findFileKey, RefusedIdentity } from "../../encryption/decrypt.ts";
import { isEncrypted } from "../../encryption/encrypt.ts";
import type { FileKey } from "../../encryption/payload.ts";
import type { Scratch } from "../../hosts/scratch.ts";
import type { Claim } from "../../jobs/job-runner.ts";
import type { Storage } from "../../storage/storage.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import { DamagedBase, openBase } from "./chain.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import type { NoteDamage } from "../verification/note-damage.ts";
import type { DamagedBackup } from "../pipeline/read-verified.ts";
import type { RecoveryWriter } from "../recovery/recovery-writer.ts";
import type { Resolver } from "../resolver.ts";
import type { TaskStore } from "../tasks/task-store.ts";
import { NoRoom, openUnnamedFile, type UnnamedFile } from "./unnamed-file.ts";

export type ReadBaseOptions = {
  store: Pick<BackupStore, "transaction" | "lock">;
  configurations: Pick<ConfigurationStore, "lock">;
  tasks: Pick<TaskStore, "hold">;
  resolver: Pick<Resolver, "drillIdentity">;
  note: NoteDamage;
  recovery: Pick<RecoveryWriter, "request">;
  scratch: Pick<Scratch, "own">;
  clock: Clock;
};

type Run = { configuration: ConfigurationRow; storage: Storage; claim: Claim };

export function createReadBase(options: ReadBaseOptions) {
  const { store, configurations, tasks, resolver, note, recovery, scratch, clock } = options;

  /** @returns the key; null = none is needed; a text = why there is none */
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

  /** Stores the damage of a file, unless that is being deleted. */
  async function noteDamage(
    { claim, configuration }: Run,
    row: BackupRow,
    error: DamagedBackup,
  ): Promise<void> {
    await store.transaction(async (tx) => {
      await configurations.lock(tx, configuration.id);
      await tasks.hold(tx, claim);
      if ((await store.lock(tx, row.id))?.status === "finished")
        await note.damaged(tx, configuration, row, error, new Date(clock.now()));
    });
    recovery.request(row.storage_provider_id);
  }

  return {
    noteDamage,

    /** @returns the content of the full, or why it is not available. @throws StorageError, or the signal's reason */
    async readBase(run: Run, base: BackupRow, signal: AbortSignal): Promise<UnnamedFile | string> {
      const { storage } = run;
      let file: UnnamedFile | null = null;
      try {
        const key = await keyOf(storage, base, signal);
        if (typeof key === "string") return key;
        file = await openUnnamedFile(scratch.own);
        await pipeline(openBase(storage, base, key, signal), file.writer(), { signal });
        return file;
      } catch (error) {
        await file?.close();
        // Each end of the pipeline may fail with an error of its own.
        signal.throwIfAborted();
        if (error instanceof NoRoom) return "the data folder is full";
        if (!(error instanceof DamagedBase)) throw error;
        await noteDamage(run, base, error);
        return `backup ${base.id}, the last full one, is damaged: ${error.damage.replace(/\.$/, "")}`;
      }
    },
  };
}
