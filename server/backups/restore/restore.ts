// Performs a restore: verifies the stored file, backs up current data, and replaces that data completely or not at all.
import type { Chain } from "../incremental/chain.ts";
import type { BackupChange, BackupRow } from "../backup-store.ts";
import { EncryptionError } from "../../encryption/encryption-error.ts";
import { isEncrypted } from "../../encryption/encrypt.ts";
import type { Storage } from "../../storage/storage.ts";
import { readAdopted } from "../adoption/adopted-manifest.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import type { Interrupted } from "../failure-message.ts";
import type { FileKeys } from "../file-keys.ts";
import { createOutput } from "../output.ts";
import { DamagedBackup } from "../pipeline/read-verified.ts";
import type { Resolver } from "../resolver.ts";
import { createDestinations, isEmpty, manifestFor, sayDestination } from "./restore-destination.ts";
import {
  createRestoreOutcome,
  type RestoreOutcomeOptions,
  type RestoreProgress,
  type RestoreRun,
} from "./restore-outcome.ts";
import { createSaveCurrent, type SaveCurrentOptions } from "./save-current.ts";
import type { TaskRow } from "../tasks/task-store.ts";

type RestoreOptions = RestoreOutcomeOptions &
  SaveCurrentOptions & {
    chain: Chain;
    resolver: Resolver;
    fileKeys: Pick<FileKeys, "take">;
  };

const keyIsGone =
  "The identity for this backup is no longer in memory: the service was restarted, or another instance took over. Restore again with the identity.";

export function createRestore(options: RestoreOptions) {
  const { store, tasks, chain, note, resolver, fileKeys, recovery, clock } = options;
  const destinations = createDestinations(options);
  const saveCurrent = createSaveCurrent(options, destinations);
  const outcome = createRestoreOutcome(options, destinations);

  const update = ({ task, row }: RestoreRun, change: BackupChange): Promise<void> =>
    store.transaction(async (tx) => {
      await tasks.hold(tx, task);
      await store.update(tx, row.id, change);
    });

  /** Stores that the file is intact, and requests a new recovery page if this or another backup counted as damaged. */
  async function noteSound({ task, row }: RestoreRun): Promise<void> {
    const isOtherSound = await store.transaction(async (tx) => {
      await tasks.hold(tx, task);
      return note.sound(tx, row, new Date(clock.now()));
    });
    if (isOtherSound || row.damage !== null) recovery.request(row.storage_provider_id);
  }

  /** Verifies the file. @throws only DamagedBackup, because another failure would hide the one that caused this check */
  async function refuseDamaged(
    storage: Storage,
    row: BackupRow,
    signal: AbortSignal,
  ): Promise<void> {
    await chain.verify(storage, row, signal).catch((error: unknown) => {
      if (error instanceof DamagedBackup) throw error;
    });
  }

  async function restore(
    run: RestoreRun,
    progress: RestoreProgress,
    signal: AbortSignal,
  ): Promise<void> {
    const { task, row, configuration, output } = run;
    const { destination } = task;
    const say = async (line: string) => {
      output.say(line);
      await update(run, { restore_output: output.text() });
    };
    const keys = fileKeys.take(task.id);
    if (isEncrypted(row.path) && keys === null) throw new EncryptionError(keyIsGone);
    const source = await destinations.open(task, configuration, row);
    const { isBuiltAside } = source;
    progress.isBuiltAside = isBuiltAside;
    const storage = await resolver.storage(row.storage_provider_id);
    const written =
      configuration.type === "site" && (await isEmpty(source, signal))
        ? row.manifest
        : await readAdopted(row, options, signal);
    if (written !== row.manifest) await update(run, { manifest: written });
    const target = destination === null ? null : row.restore_target;
    if (target !== null) await say(sayDestination(target));
    // A file without a checksum is checked by unpacking it, and patches are applied to unpacked content: both happen here.
    const isUnpackedHere = row.checksum === null || row.base_id !== null;
    const unpacking = isUnpackedHere ? null : await source.unpacking?.(signal);
    if (isBuiltAside) {
      await chain.checkSize(storage, row, signal);
      await say(`The stored file in ${storage.place} is verified while it is restored.`);
    } else {
      await say(`Verifying the stored file in ${storage.place}.`);
      await chain.verify(storage, row, signal);
      await noteSound(run);
      await say("Stored file verified.");
    }
    progress.isExplained = true;
    const manifest = manifestFor({ manifest: written }, destination);
    await source.refuseRestore?.({ id: row.id, signal }, manifest);
    if (task.skip_safety_backup) await say("Skipping the backup of current data, as requested.");
    else {
      const replaced = { task, source, configuration, manifest: written, target };
      const safetyId = await saveCurrent(replaced, signal, say);
      if (target !== null && safetyId !== null)
        await update(run, { restore_target: { ...target, safety_backup_id: safetyId } });
    }
    await say("Restoring.");
    const open = (isPacked: boolean) => chain.open(storage, row, { keys, isPacked }, signal);
    const attempt = { id: row.id, say: output.say, signal, reopen: () => open(false) };
    const content = await open(unpacking != null);
    progress.content = content;
    await (unpacking ?? source).restore(content, attempt, manifest).catch(async (error) => {
      // A tool that reads damaged content reports a consequence; the damage is the cause.
      if (isBuiltAside && !content.readableEnded) await refuseDamaged(storage, row, signal);
      throw error;
    });
    outcome.noteRestored(task);
    if (isBuiltAside) output.say("Stored file verified.");
    output.say("Restored.");
    if (configuration.type === "site" && destination?.path === undefined)
      output.say("If the site has workers, restart them: they still use the previous folder.");
    if (isBuiltAside) await noteSound(run);
    await outcome.endRestored(run);
  }

  return {
    /** Restores and stores the outcome. @throws ClaimLost where another runner has the restore now */
    async perform(
      task: TaskRow,
      row: BackupRow,
      configuration: ConfigurationRow,
      signal: AbortSignal,
    ): Promise<void> {
      const run = { task, row, configuration, output: createOutput() };
      const progress: RestoreProgress = { isExplained: false, isBuiltAside: false, content: null };
      try {
        await restore(run, progress, signal);
      } catch (error) {
        await outcome.fail(run, progress, error, signal.reason);
      }
    },

    /** Settles a restore that another runner began and has abandoned. */
    settle: (
      task: TaskRow,
      row: BackupRow,
      configuration: ConfigurationRow,
      why: Interrupted,
    ): Promise<void> => {
      const output = createOutput(row.restore_output ?? "");
      return outcome.settle({ task, row, configuration, output }, why);
    },
  };
}
