// Stores how a backup ended: the row, its event or timeline entry, and the follow-up jobs, in one transaction.
import type { Logger } from "pino";
import { utcText } from "../../../contract/values.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { recordEvent } from "../../events/store.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import type { Connection } from "../../store/database.ts";
import { whileAway } from "../../store/while-away.ts";
import { backupEntry, canceledAction, backupEvent } from "../event-data.ts";
import { isEncrypted } from "../../encryption/encrypt.ts";
import type { ChainStore } from "../incremental/chain-store.ts";
import type { CopyQueue } from "../copies/copy-queue.ts";
import type { CountsStore } from "../counts-store.ts";
import { createEndRun } from "./end-run.ts";
import { lockUnended } from "./unended-row.ts";
import { countedBefore, lostRowsWarning } from "./lost-rows.ts";
import { findAnomalies, manifestWarnings, type Measured } from "./anomalies.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import type { BackupCounts } from "../metrics.ts";
import { shortDuration, sizeInWords } from "../formatting.ts";
import { cancellationMessage, Canceled, failureMessage } from "../failure-message.ts";
import { createOutput, type Output } from "../output.ts";
import type { Stored } from "../pipeline/store-dump.ts";
import type { Resolver } from "../resolver.ts";
import type { Manifest, Origin } from "../sources/source.ts";

/** The runner of the task that a run or a copy is a part of. */
export type Runner = {
  /** Runs in the transaction of the outcome; throws where the task's claim is lost. */
  also(tx: Connection): Promise<void>;
  /** Whether it has begun the work itself, under the claim that `also` checks. */
  isOwn: boolean;
  signal: AbortSignal;
};

export type RecordOutcomeOptions = {
  store: BackupStore;
  configurations: ConfigurationStore;
  countsStore: CountsStore;
  chainStore: Pick<ChainStore, "baseDamage" | "lockBase">;
  resolver: Omit<Resolver, "drill" | "destination">;
  jobs: Jobs;
  copyQueue: Pick<CopyQueue, "hold">;
  counts: BackupCounts;
  clock: Clock;
  log: Logger;
};

export function createRecordOutcome(options: RecordOutcomeOptions) {
  const { store, configurations, countsStore, chainStore, resolver, jobs, copyQueue, clock, log } =
    options;
  const { endRun, count } = createEndRun(options);
  const now = () => new Date(clock.now());

  /** Returns warnings about lost rows; none after a restore, which brings back older rows. */
  async function lostRows(configuration: ConfigurationRow, manifest: Manifest): Promise<string[]> {
    const before = await countsStore.newest(configuration.id, countedBefore);
    const [last] = before;
    if (last === undefined || (await countsStore.isRestoredSince(configuration, last.startedAt)))
      return [];
    return lostRowsWarning(
      manifest,
      before.map(({ counts: its }) => its),
    );
  }

  /**
   * Stores a successful run and its event. A run with a copy continues until that has ended.
   * @returns the row
   */
  async function finish(
    row: BackupRow,
    configuration: ConfigurationRow,
    stored: Stored & {
      origin: Origin;
      state: string | null;
      warnings: string[];
      lockedUntil: Date | null;
    },
    output: Output,
    before: BackupRow[],
    { also, signal }: Runner,
  ): Promise<BackupRow> {
    const endedAt = now();
    const durationMs = endedAt.getTime() - row.started_at.getTime();
    const { sizeBytes, checksum } = stored;
    // The size of changes says nothing about the content, so sizes of the content are compared where any of the backups has changes.
    const isOfContent = [row, ...before].some(({ base_id: baseId }) => baseId !== null);
    const measured = {
      sizeBytes: isOfContent ? stored.plainBytes : sizeBytes,
      durationMs,
      checksum,
      isEncrypted: isEncrypted(row.path),
    };
    const warnings = [
      ...stored.warnings,
      ...manifestWarnings(stored.manifest),
      ...findAnomalies(
        measured,
        before.map((one, index) => measure(one, before[index + 1], isOfContent)),
      ),
      ...(row.trigger === "import"
        ? []
        : await whileAway(() => lostRows(configuration, stored.manifest), { clock, signal })),
    ];
    output.say(
      `Stored ${sizeInWords(stored.sizeBytes)} (${sizeInWords(stored.plainBytes)} before compression) in ${shortDuration(durationMs)}; ${stored.verification}.`,
    );
    if (stored.lockedUntil !== null) output.say(`Locked until ${utcText(stored.lockedUntil)}.`);
    for (const warning of warnings) output.say(`Warning: ${warning}`);
    await resolver.markStorage(row.storage_provider_id).catch((error: unknown) => {
      // The backup is stored nevertheless; the next run marks the storage.
      log.warn({ err: error, provider: row.storage_provider_id }, "a storage was not marked");
    });
    const facts = {
      ended_at: endedAt,
      size: stored.sizeBytes,
      plain_size: stored.plainBytes,
      checksum: stored.checksum,
      source_state: stored.state,
      manifest: { ...stored.manifest, origin: stored.origin },
      warnings,
      locked_until: stored.lockedUntil,
    };
    const record = async (tx: Connection) => {
      const locked = await configurations.lock(tx, configuration.id);
      await chainStore.lockBase(tx, row, stored.lockedUntil);
      // A copy of the output, because lines count only where they are committed.
      const said = createOutput(output.text());
      const held = await copyQueue.hold(tx, locked, row, facts, said);
      const ended =
        held ?? (await endRun(tx, configuration, row, { ...facts, output: output.text() }));
      if (ended === null) throw new Error(`Backup ${row.id} was moved during its run.`);
      await also(tx);
      return ended;
    };
    const moved = await whileAway(
      async () => {
        const known = await store.byId(row.id);
        // A previous attempt was committed, and only its response was lost.
        const isStored = known?.ended_at?.getTime() === endedAt.getTime();
        return isStored ? known : store.transaction(record);
      },
      { clock, signal },
    );
    if (moved.status === "finished") count(moved);
    return moved;
  }
  /** Stores a run that failed or was canceled. @returns false where its status was changed meanwhile */
  async function fail(
    row: BackupRow,
    configuration: ConfigurationRow,
    error: unknown,
    output: Output,
    { also, isOwn, signal }: Runner,
  ): Promise<boolean> {
    const reason =
      error instanceof Canceled ? cancellationMessage(error, workOf(row)) : failureMessage(error);
    output.say(reason);
    const record = async (tx: Connection) => {
      const from = isOwn ? await lockUnended(tx, store, row) : row;
      const failed = await store.move(tx, from, "failed", {
        ended_at: now(),
        status_reason: reason,
        output: output.text(),
        plain_size: 0,
        stored_bytes: 0,
        path: "",
        base_id: null,
      });
      if (failed === null) return null;
      // `put` removes what it wrote, but a storage that became unavailable may still have a part of the file.
      if (from.path !== "")
        await jobs.send(tx, "backup.clean", {
          ...toObject(from),
          server_id: configuration.server_id,
        });
      if (error instanceof Canceled)
        await recordActivity(
          tx,
          backupEntry(configuration, failed, canceledAction[workOf(row)], { detail: reason }),
        );
      else if (row.trigger === "import")
        await recordActivity(
          tx,
          backupEntry(configuration, failed, "import failed", { outcome: "bad", detail: reason }),
        );
      else if (row.trigger !== "safety")
        await recordEvent(
          tx,
          backupEvent(configuration, failed, { type: "backup.failed", reason }),
        );
      await also(tx);
      return failed;
    };
    const moved = await whileAway(() => store.transaction(record), { clock, signal });
    if (moved !== null && !(error instanceof Canceled)) count(moved);
    return moved !== null;
  }

  return { finish, fail };
}

const workOf = ({ trigger }: BackupRow) => (trigger === "import" ? "import" : "run");

/** @param older the previous backup */
function measure(row: BackupRow, older: BackupRow | undefined, isOfContent: boolean): Measured {
  const { path, size, plain_size: plainSize, started_at, ended_at, checksum, source_state } = row;
  // A full always reads the source.
  const isAgain =
    row.base_id !== null && source_state !== null && source_state === older?.source_state;
  return {
    sizeBytes: isOfContent ? plainSize : size,
    durationMs: isAgain ? null : (ended_at ?? started_at).getTime() - started_at.getTime(),
    checksum,
    isEncrypted: isEncrypted(path),
  };
}

const toObject = ({ storage_provider_id, path }: BackupRow) => ({ storage_provider_id, path });
