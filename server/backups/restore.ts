// A restore from beginning to end: what is there is saved, then it is replaced, whole or not at all, and by nothing but what
// was stored.
import type { Readable } from "node:stream";
import type { Logger } from "pino";
import { recordActivity } from "../activity/store.ts";
import type { Clock } from "../clock.ts";
import { recordEvent } from "../events/store.ts";
import { ClaimLost } from "../jobs/job-runner.ts";
import { ServerAway } from "../ssh/server-away.ts";
import type { Connection } from "../store/database.ts";
import { backupEntry, canceledAction, restoreEvent } from "./event-data.ts";
import type { BackupChange, BackupRow, BackupStore } from "./backup-store.ts";
import { EncryptionError } from "../encryption/encryption-error.ts";
import { isEncrypted } from "../encryption/encrypt.ts";
import { readAdopted } from "./adopted-manifest.ts";
import type { Chain } from "./chain.ts";
import type { FileKeys } from "./file-keys.ts";
import type { NoteDamage } from "./note-damage.ts";
import { sayTwins, type Twins } from "./twins.ts";
import type { ConfigurationRow, ConfigurationStore } from "./configuration-store.ts";
import type { ConfigurationTransitions } from "./configuration-transitions.ts";
import { createOutput, type Output } from "./output.ts";
import { DamagedBackup } from "./read-verified.ts";
import type { Resolver } from "./resolver.ts";
import type { RecoveryWriter } from "./recovery-writer.ts";
import {
  createDestinations,
  isEmpty,
  manifestFor,
  refuseUnsaved,
  savedWith,
  sayDestination,
} from "./restore-destination.ts";
import { SourceError, type Source } from "./sources/source.ts";
import type { Storage } from "../storage/storage.ts";
import type { TakeBackup } from "./take-backup.ts";
import type { TaskRow, TaskStore } from "./task-store.ts";
import { sizeInWords } from "./formatting.ts";
import {
  cancellationMessage,
  Canceled,
  operatorMessage,
  failureMessage,
  leftBehind,
  type Interrupted,
} from "./failure-message.ts";

type RestoreOptions = {
  store: BackupStore;
  configurations: Pick<ConfigurationStore, "lock" | "saverOf">;
  transitions: Pick<ConfigurationTransitions, "move">;
  tasks: TaskStore;
  chain: Chain;
  note: NoteDamage;
  resolver: Resolver;
  takeBackup: TakeBackup;
  fileKeys: Pick<FileKeys, "take">;
  recovery: Pick<RecoveryWriter, "request">;
  copies: Twins;
  clock: Clock;
  log: Logger;
};

/** What a restore is about to replace. */
type Replaced = {
  source: Source;
  /** Which saves it first; null = none does. */
  configuration: ConfigurationRow | null;
  /** Null = the backup's own source. */
  target: BackupRow["restore_target"];
};

export function createRestore(options: RestoreOptions) {
  const {
    store,
    configurations,
    transitions,
    tasks,
    chain,
    note,
    resolver,
    takeBackup,
    fileKeys,
    recovery,
    copies,
    clock,
    log,
  } = options;
  const destinations = createDestinations(options);
  /** Tasks whose restore was done here, until that is stored: whatever fails in between, the data was replaced. */
  const restored = new Set<string>();

  async function end(
    task: TaskRow,
    row: BackupRow,
    configuration: ConfigurationRow,
    outcome: { status: "finished" } | { status: "failed"; reason: string; isCanceled?: boolean },
    output: Output,
  ): Promise<void> {
    const at = new Date(clock.now());
    if (outcome.status === "failed") output.say(outcome.reason);
    const change = {
      restore_status: outcome.status,
      restore_output: output.text(),
      ...(outcome.status === "finished" && { restored_at: at }),
    };
    const isBack = outcome.status === "finished" && task.destination === null;
    await store.transaction(async (tx) => {
      // Before the backup's row, as everywhere.
      const own = isBack ? await configurations.lock(tx, configuration.id) : null;
      if (!(await tasks.end(tx, task))) return;
      await store.update(tx, row.id, change);
      // Without a schedule no run would find out that what was missing is there again.
      if (own?.status === "failed" && own.adopted_at !== null)
        await transitions.move(tx, own, "installing", { status_reason: null });
      if (outcome.status === "failed" && outcome.isCanceled === true)
        return recordActivity(
          tx,
          backupEntry(configuration, row, canceledAction.restore, { detail: outcome.reason }),
        );
      const reason = outcome.status === "failed" ? outcome.reason : null;
      const details = { reason, startedAt: task.started_at, endedAt: at };
      await recordEvent(tx, restoreEvent(configuration, row, details));
    });
  }

  async function endRestored(
    task: TaskRow,
    row: BackupRow,
    configuration: ConfigurationRow,
    output: Output,
  ): Promise<void> {
    await end(task, row, configuration, { status: "finished" }, output);
    restored.delete(task.id);
  }

  /** Saves what the restore is about to replace. @returns the id of that backup; null = there was nothing */
  async function saveTarget(
    task: TaskRow,
    { source, configuration, target }: Replaced,
    signal: AbortSignal,
    say: (line: string) => Promise<void>,
  ): Promise<number | null> {
    const hasNothing = async () => {
      await say("No current data to back up.");
      return null;
    };
    if (configuration === null) {
      const name = target?.name ?? "";
      await refuseUnsaved(source, { name, database: target?.database ?? null }, signal);
      return hasNothing();
    }
    if (!(await source.exists())) return hasNothing();
    const hold = (tx: Connection) => tasks.hold(tx, task);
    const waiting = await store.transaction(async (tx) => {
      await hold(tx);
      return store.insert(tx, {
        configuration_id: configuration.id,
        storage_provider_id: configuration.storage_provider_id,
        trigger: "safety",
        started_at: new Date(clock.now()),
      });
    });
    const safety = await takeBackup.take(waiting, configuration, signal, {
      claim: task,
      also: hold,
    });
    signal.throwIfAborted();
    if (safety === null) {
      const reason = (await store.byId(waiting.id))?.status_reason ?? "";
      throw new SourceError(
        `Couldn't back up current data (backup ${waiting.id}), so nothing was changed: ${reason} If the data is too damaged to back up, restore again without a backup.`,
      );
    }
    await say(
      `Current data saved as backup ${safety.id} (${sizeInWords(safety.size)}). Restore that backup to undo this restore.`,
    );
    return safety.id;
  }

  /** After a restore that was cut off, mostly with the service: its target is finished or undone, then the outcome is stored. */
  async function settle(
    task: TaskRow,
    row: BackupRow,
    configuration: ConfigurationRow,
    why: Interrupted,
    { output = createOutput(row.restore_output ?? ""), isUnchanged = false } = {},
  ): Promise<void> {
    const signal = AbortSignal.timeout(settleMs);
    if (restored.has(task.id)) {
      output.say("Restored. The outcome couldn't be stored at once.");
      return endRestored(task, row, configuration, output);
    }
    let reason: string;
    try {
      const source = await destinations.open(task, configuration, row);
      const state = await source.settle({ id: row.id, say: output.say, signal });
      if (state === "restored") {
        output.say("Interrupted after its last step. The restore is complete.");
        return await end(task, row, configuration, { status: "finished" }, output);
      }
      reason =
        state === "as it was" || isUnchanged
          ? `${why.message} Nothing was changed.`
          : `${why.message} The data is either unchanged or fully restored.`;
    } catch (error) {
      log.error({ err: error, backup: row.id }, "a restore that was cut off could not be settled");
      reason = `${why.message} The cleanup failed too: ${failureMessage(error)}`;
    }
    const isCanceled = why instanceof Canceled;
    await end(task, row, configuration, { status: "failed", reason, isCanceled }, output);
  }

  /** @throws DamagedBackup and nothing else: whatever else goes wrong is no reason for what went wrong before */
  async function refuseDamaged(
    storage: Storage,
    row: BackupRow,
    signal: AbortSignal,
  ): Promise<void> {
    await chain.verify(storage, row, signal).catch((error: unknown) => {
      if (error instanceof DamagedBackup) throw error;
    });
  }

  return {
    async perform(
      task: TaskRow,
      row: BackupRow,
      configuration: ConfigurationRow,
      signal: AbortSignal,
    ): Promise<void> {
      const output = createOutput();
      const update = (change: BackupChange) =>
        store.transaction(async (tx) => {
          await tasks.hold(tx, task);
          await store.update(tx, row.id, change);
        });
      const say = async (line: string) => {
        output.say(line);
        await update({ restore_output: output.text() });
      };
      let isExplained = false;
      let isBuiltAside = false;
      let content: Readable | null = null;
      const keys = fileKeys.take(task.id);
      try {
        if (isEncrypted(row.path) && keys === null) throw new EncryptionError(keyIsGone);
        const source = await destinations.open(task, configuration, row);
        ({ isBuiltAside } = source);
        const storage = await resolver.storage(row.storage_provider_id);
        const { destination } = task;
        const written =
          configuration.type === "site" && (await isEmpty(source, signal))
            ? row.manifest
            : await readAdopted(row, options, signal);
        if (written !== row.manifest) await update({ manifest: written });
        const target = destination === null ? null : row.restore_target;
        if (target !== null) await say(sayDestination(target));
        const noteSound = async () => {
          const isOtherSound = await store.transaction(async (tx) => {
            await tasks.hold(tx, task);
            return note.sound(tx, row, new Date(clock.now()));
          });
          if (isOtherSound || row.damage !== null) recovery.request(row.storage_provider_id);
        };
        // Without a checksum, a look at the content itself has to tell whether it is whole; changes are put back here.
        const isUnpackedHere = row.checksum === null || row.base_id !== null;
        const unpacking = isUnpackedHere ? null : await source.unpacking?.(signal);
        if (isBuiltAside) {
          await chain.checkSize(storage, row, signal);
          await say(`The stored file in ${storage.place} is verified while it is restored.`);
        } else {
          await say(`Verifying the stored file in ${storage.place}.`);
          await chain.verify(storage, row, signal);
          await noteSound();
          await say("Stored file verified.");
        }
        isExplained = true;
        const manifest = manifestFor({ manifest: written }, destination);
        await source.refuseRestore?.({ id: row.id, signal }, manifest);
        if (task.skip_safety_backup)
          await say("Skipping the backup of current data, as requested.");
        else {
          await say("Backing up current data.");
          const saver = await destinations.saverOf(task, configuration);
          const replaced = {
            source,
            configuration:
              saver === null ? null : { ...saver, ...savedWith({ manifest: written }) },
            target,
          };
          const safetyId = await saveTarget(task, replaced, signal, say);
          if (target !== null && safetyId !== null)
            await update({ restore_target: { ...target, safety_backup_id: safetyId } });
        }
        await say("Restoring.");
        const open = (isPacked: boolean) => chain.open(storage, row, { keys, isPacked }, signal);
        const attempt = { id: row.id, say: output.say, signal, reopen: () => open(false) };
        const opened = await open(unpacking != null);
        content = opened;
        await (unpacking ?? source).restore(opened, attempt, manifest).catch(async (error) => {
          // What a tool says of damaged content is not the cause.
          if (isBuiltAside && !opened.readableEnded) await refuseDamaged(storage, row, signal);
          throw error;
        });
        restored.add(task.id);
        if (isBuiltAside) output.say("Stored file verified.");
        output.say("Restored.");
        if (configuration.type === "site" && destination?.path === undefined)
          output.say("The site's workers still use the previous folder. Restart them.");
        if (isBuiltAside) await noteSound();
        await endRestored(task, row, configuration, output);
      } catch (error) {
        // Somebody else has the restore now, and what it wrote down.
        if (error instanceof ClaimLost) throw error;
        if (restored.has(task.id)) {
          log.error({ err: error, backup: row.id }, "a restore that was done could not be stored");
          return await endRestored(task, row, configuration, output);
        }
        const words = operatorMessage(error);
        if (words === null)
          log.error({ err: error, backup: row.id }, "a restore failed unexpectedly");
        if (error instanceof DamagedBackup) {
          await store.transaction(async (tx) => {
            await tasks.hold(tx, task);
            await note.damaged(tx, configuration, row, error, new Date(clock.now()));
          });
          recovery.request(row.storage_provider_id);
        }
        const reason: unknown = signal.reason;
        if (!(reason instanceof Canceled)) {
          const failure = failureMessage(error);
          // From then on whoever fails says what was done, except for the file itself.
          const isTold = isExplained && !(error instanceof DamagedBackup);
          const twins = await sayTwins(copies, row, error);
          const isCut = content !== null && error instanceof ServerAway;
          const told = isTold ? failure : `${failure} ${leftBehind.restore}`;
          const explained = `${told}${isCut ? ` ${afterCut}` : ""}${twins}`;
          await end(task, row, configuration, { status: "failed", reason: explained }, output);
        } else if (content !== null) {
          const isUnchanged = isBuiltAside && !content.readableEnded;
          await settle(task, row, configuration, reason, { output, isUnchanged });
        } else {
          const explained = cancellationMessage(reason, "restore");
          const outcome = { status: "failed", reason: explained, isCanceled: true } as const;
          await end(task, row, configuration, outcome, output);
        }
      }
    },

    settle,
  };
}

/** Nobody has seen the end of a restore whose server went away. */
const afterCut =
  "The data is as it was or restored: look at it before you go on. What was left half done is completed or undone before the next backup.";

const keyIsGone =
  "The identity that was given to open this backup is gone: it's held in memory only, and the service was started again since, or another instance took over. Restore again with the identity.";

/** Putting things in order is renames and drops. */
const settleMs = 5 * 60_000;
