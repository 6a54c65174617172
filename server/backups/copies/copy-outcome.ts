// Stores the outcome of a copy and, with it, that of a run that waited for the copy.
import type { Logger } from "pino";
import { isCopyWarning } from "../../../contract/backups/copies.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { recordEvent } from "../../events/store.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import type { Connection } from "../../store/database.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import type { CopyQueue } from "./copy-queue.ts";
import { createEndRun, type EndRunOptions } from "../run/end-run.ts";
import type { Runner } from "../run/record-outcome.ts";
import { lockUnended } from "../run/unended-row.ts";
import { whileAway } from "../../store/while-away.ts";
import { backupEntry, canceledAction, copyFailedEvent } from "../event-data.ts";
import { cancellationMessage, Canceled, failureMessage } from "../failure-message.ts";
import { createOutput, type Output } from "../output.ts";
import type { NoteDamage } from "../verification/note-damage.ts";
import { DamagedBackup } from "../pipeline/read-verified.ts";
import type { RecoveryWriter } from "../recovery/recovery-writer.ts";

export type CopyOutcomeOptions = EndRunOptions & {
  store: BackupStore;
  configurations: ConfigurationStore;
  copyQueue: Pick<CopyQueue, "nameOf">;
  jobs: Pick<Jobs, "send">;
  note: NoteDamage;
  recovery: Pick<RecoveryWriter, "request">;
  clock: Clock;
  log: Logger;
};

/** Facts about the stored file of a copy. */
type StoredCopy = Required<
  Pick<BackupRow, "size" | "plain_size" | "checksum" | "manifest" | "locked_until" | "warnings">
>;

/** The run: the new row if it ended with its copy, and the previous row if its file was found damaged. */
type Noted = { ended: BackupRow | null; damaged?: BackupRow | null };

const retryHint =
  "Quarterdeck copies it again with the next run. To do so now, choose “Copy again” on the backup's page.";

export function createCopyOutcome(options: CopyOutcomeOptions) {
  const { store, configurations, chainStore, copyQueue, jobs, note, recovery, clock } = options;
  const { endRun, count } = createEndRun(options);
  const now = () => new Date(clock.now());

  /**
   * Stores the outcome of the copy with its run, and ends the run if it waited for that.
   * @param reason why the copy failed; null = it is stored
   * @returns the previous row of the run, and the new one if it ended; null = the run was deleted
   */
  async function noteAtRun(
    tx: Connection,
    configuration: ConfigurationRow,
    copy: BackupRow,
    reason: string | null,
  ): Promise<{ run: BackupRow; ended: BackupRow | null } | null> {
    const run = copy.copy_of_id === null ? null : await store.lock(tx, copy.copy_of_id);
    if (run === null) return null;
    const there = await copyQueue.nameOf(copy.storage_provider_id, tx);
    const here = await copyQueue.nameOf(run.storage_provider_id, tx);
    const missing = `Stored in ${here}, missing in ${there}: ${reason} ${retryHint}`;
    const others = run.warnings.filter((warning) => !isCopyWarning(warning));
    const warnings = reason === null ? others : [...others, missing];
    const output = createOutput(run.output);
    if (reason === null) output.say(`Copied to ${there} as backup ${copy.id}.`);
    // Without the rest of the warning, which the page shows as well. A later failure is not part of the run's output.
    else if (run.status === "running") output.say(`Not copied to ${there}: ${reason}`);
    const change = { warnings, output: output.text() };
    // The copy has read and verified the whole file; only where it needs no full, that is all of the backup.
    if (reason === null && run.base_id === null) await note.sound(tx, run, now());
    if (run.status !== "running") {
      if (run.status === "finished") await store.update(tx, run.id, change);
      return { run, ended: null };
    }
    return { run, ended: await endRun(tx, configuration, run, change) };
  }

  /** Called after the commit: updates metrics and the recovery page of the run's storage. */
  function announce({ ended, damaged = null }: Noted): void {
    if (ended !== null) {
      count(ended);
      recovery.request(ended.storage_provider_id, ended.id);
    }
    if (damaged !== null) recovery.request(damaged.storage_provider_id);
  }

  /** @returns false where the status of the copy was changed meanwhile */
  async function failIn(
    tx: Connection,
    configuration: ConfigurationRow,
    copy: BackupRow,
    error: unknown,
    output: Output,
    endedAt = now(),
  ): Promise<Noted & { isDone: boolean }> {
    const reason =
      error instanceof Canceled ? cancellationMessage(error, "copy") : failureMessage(error);
    output.say(reason);
    const failed = await store.move(tx, copy, "failed", {
      ended_at: endedAt,
      status_reason: reason,
      output: output.text(),
      stored_bytes: 0,
      plain_size: 0,
      path: "",
      base_id: null,
    });
    if (failed === null) return { isDone: false, ended: null };
    const { storage_provider_id, path } = copy;
    if (path !== "")
      await jobs.send(tx, "backup.clean", {
        storage_provider_id,
        path,
        server_id: configuration.server_id,
      });
    const noted = await noteAtRun(tx, configuration, failed, reason);
    const run = noted?.run ?? null;
    if (error instanceof Canceled) {
      const more = { detail: reason };
      await recordActivity(tx, backupEntry(configuration, failed, canceledAction.copy, more));
      // Only with the run, because a copy that is retried with every run is reported once.
    } else if (noted?.ended != null) {
      const storage = await copyQueue.nameOf(storage_provider_id, tx);
      await recordEvent(tx, copyFailedEvent(configuration, failed, { reason, storage }));
    }
    const isDamaged = error instanceof DamagedBackup;
    if (run !== null && isDamaged) await note.damaged(tx, configuration, run, error, now());
    return { isDone: true, ended: noted?.ended ?? null, damaged: isDamaged ? run : null };
  }

  /**
   * Stores the outcome of a copy, and announces it.
   * @param steps changes the rows in the transaction; the configuration is null where it was deleted
   * @returns false where the status of the copy was changed meanwhile
   */
  async function record(
    copy: BackupRow,
    { id }: ConfigurationRow,
    { endedAt, signal }: { endedAt: Date; signal: AbortSignal },
    steps: (
      tx: Connection,
      configuration: ConfigurationRow | null,
    ) => Promise<Noted & { isDone: boolean }>,
  ): Promise<boolean> {
    let noted: Noted & { isDone: boolean } = { isDone: false, ended: null };
    const attempt = async (tx: Connection) => {
      const configuration = await configurations.lock(tx, id);
      const known = await store.lock(tx, copy.id);
      // A previous attempt was committed, and only its response was lost.
      if (known?.ended_at?.getTime() === endedAt.getTime()) return noted;
      noted = await steps(tx, configuration);
      return noted;
    };
    const stored = await whileAway(() => store.transaction(attempt), { clock, signal });
    announce(stored);
    return stored.isDone;
  }

  return {
    /** Stores a successful copy. @throws where its status was changed meanwhile */
    async finish(
      copy: BackupRow,
      configuration: ConfigurationRow,
      stored: StoredCopy,
      output: Output,
      { also, signal }: Runner,
    ): Promise<void> {
      const endedAt = now();
      await record(copy, configuration, { endedAt, signal }, async (tx, locked) => {
        const finished =
          locked === null
            ? null
            : await store.move(tx, copy, "finished", {
                ...stored,
                ...(await chainStore.baseDamage(tx, copy)),
                ended_at: endedAt,
                output: output.text(),
              });
        await chainStore.lockBase(tx, copy, stored.locked_until);
        if (locked === null || finished === null)
          throw new Error(`Backup ${copy.id} was moved while it was copied.`);
        const noted = await noteAtRun(tx, locked, finished, null);
        await also(tx);
        return { isDone: true, ended: noted?.ended ?? null };
      });
      recovery.request(copy.storage_provider_id, copy.id);
    },

    /** Stores a copy that failed or was canceled. @returns false where its status was changed meanwhile */
    async fail(
      copy: BackupRow,
      configuration: ConfigurationRow,
      error: unknown,
      output: Output,
      { also, isOwn, signal }: Runner,
    ): Promise<boolean> {
      const endedAt = now();
      return record(copy, configuration, { endedAt, signal }, async (tx, locked) => {
        if (locked === null) return { isDone: false, ended: null };
        const from = isOwn ? await lockUnended(tx, store, copy) : copy;
        // A copy of the output, because lines count only where they are committed.
        const said = createOutput(output.text());
        const done = await failIn(tx, locked, from, error, said, endedAt);
        await also(tx);
        return done;
      });
    },

    /**
     * Ends a copy that has not begun, in a transaction that has locked its configuration.
     * @param error the reason
     * @returns a function to call after the commit
     */
    async endUnbegun(
      tx: Connection,
      copyId: number,
      configuration: ConfigurationRow,
      error: unknown,
    ): Promise<() => void> {
      const copy = await store.lock(tx, copyId);
      const noted =
        copy === null ? null : await failIn(tx, configuration, copy, error, createOutput());
      return () => noted !== null && announce(noted);
    },

    /** Ends a run whose copy no longer exists. */
    async release(run: BackupRow, { id }: ConfigurationRow): Promise<void> {
      const ended = await store.transaction(async (tx) => {
        const configuration = await configurations.lock(tx, id);
        if (configuration === null) return null;
        return endRun(tx, configuration, run, {
          warnings: [
            ...run.warnings,
            `Stored, but not copied: the copy was interrupted. ${retryHint}`,
          ],
        });
      });
      announce({ ended });
    },
  };
}
