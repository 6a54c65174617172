// Applies retention: removes backups beyond the hold after a finished run, and safety backups by their age.
import { isOfRun, safetyKeptDays } from "../../../contract/backups/backup.ts";
import { keptBy, type KeepRules } from "../../../contract/backups/keep-rules.ts";
import type { Clock } from "../../clock.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import type { Connection } from "../../store/database.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import { isLocked } from "../run/lock-stored.ts";
import { clockDifferenceMs } from "../schedule/postponed.ts";
import type { Removal } from "./removal.ts";
import type { RetentionStore } from "./retention-store.ts";
import type { TaskStore } from "../tasks/task-store.ts";

type Facts = Pick<
  BackupRow,
  "id" | "base_id" | "damage" | "trigger" | "started_at" | "ended_at" | "pinned_at"
> &
  Partial<Pick<BackupRow, "taken_at" | "copy_of_id" | "locked_until">>;

const safetyKeptMs = safetyKeptDays * 24 * 3600 * 1000;

const isGood = ({ damage }: Facts): boolean => damage === null;
const isPinned = ({ pinned_at: pinnedAt }: Facts): boolean => pinnedAt !== null;

/** Settings of a configuration that determine which backups are kept. */
type Keeping = {
  /** Number of the newest good backups to keep, at least 1. */
  hold: number;
  /** Rules for further backups to keep; null = none. */
  keep: KeepRules | null;
  /** Time zone of the server, which decides the days of the rules. */
  timeZone: string;
  /** Whether the next run will be copied. */
  isCopied?: boolean;
};

const takenAt = ({ taken_at: takenAt, started_at: startedAt }: Facts): Date => takenAt ?? startedAt;

/**
 * Sorts copies by their own time, because a copy of an older run may be newer. A time in the future comes from a clock that was ahead,
 * and counts as the oldest: as the newest, it would displace each new copy.
 */
function copiesIn<Backup extends Facts>(finished: readonly Backup[], at: Date): Backup[] {
  const latestMs = at.getTime() + clockDifferenceMs;
  const msOf = (one: Backup) => {
    const ms = takenAt(one).getTime();
    return ms > latestMs ? 0 : ms;
  };
  return finished.filter(({ trigger }) => trigger === "copy").toSorted((a, b) => msOf(b) - msOf(a));
}

/** Leaves out copies of pinned runs, which stay as long as their runs. */
function withoutPinnedRuns<Backup extends Facts>(
  copies: readonly Backup[],
  finished: readonly Backup[],
): Backup[] {
  const pinned = new Set<number | null>(finished.filter(isPinned).map(({ id }) => id));
  return copies.filter(({ copy_of_id: runId = null }) => !pinned.has(runId));
}

/**
 * Returns the backups of runs that are not kept, or their copies, which are counted separately. Only good backups count towards the
 * hold: as long as there are fewer of them, nothing is removed, and a damaged backup never displaces a good one. Pinned backups stay,
 * and do not count. The newest backup always stays.
 * @param all without safety backups, newest first
 */
function beyondKept<Backup extends Facts>(
  all: readonly Backup[],
  { hold, keep, timeZone }: Keeping,
): Backup[] {
  const ofRuns = all.filter((one) => !isPinned(one));
  const good = ofRuns.filter(isGood);
  const oldestHeld = good[hold - 1];
  // Damaged backups stay until then, because a later verification may find one good, e.g. once its full backup is in place again.
  if (oldestHeld === undefined) return [];
  const moments = good.map(takenAt);
  const kept = keptBy(moments, keep, timeZone);
  const staying = new Set([...kept.keys()].map((index) => good[index]));
  return ofRuns.slice(ofRuns.indexOf(oldestHeld) + 1).filter((backup) => !staying.has(backup));
}

/**
 * Returns the safety backups that have expired. Where no other backup is good, the newest good one stays, or where none is good, the
 * newest, because it may be the only backup left.
 * @param finished finished backups, newest first
 */
export function expiredSafety<Backup extends Facts>(
  finished: readonly Backup[],
  at: Date,
): Backup[] {
  const expired = finished.filter(
    (one) =>
      one.trigger === "safety" &&
      !isPinned(one) &&
      !isLocked(one, at) &&
      at.getTime() - (one.ended_at ?? one.started_at).getTime() >= safetyKeptMs,
  );
  const staying = finished.filter((backup) => !expired.includes(backup));
  if (staying.some(isGood)) return expired;
  const last = expired.find(isGood) ?? (staying.length === 0 ? expired[0] : undefined);
  return expired.filter((backup) => backup !== last);
}

/** Leaves out fulls that a kept backup needs; each is removed once no backup needs it. */
function withoutNeeded<Backup extends Facts>(
  finished: readonly Backup[],
  removed: readonly Backup[],
): Backup[] {
  const gone = new Set(removed);
  const needed = new Set(
    finished.filter((one) => !gone.has(one)).map(({ base_id: baseId }) => baseId),
  );
  return removed.filter(({ id }) => !needed.has(id));
}

/**
 * Returns the backups to remove after a finished run. Locked backups count like others, and are removed after a later run.
 * @param finished finished backups including that run, newest first
 * @param at when the run has finished
 */
export const removedAfterRun = <Backup extends Facts>(
  finished: readonly Backup[],
  keeping: Keeping,
  at: Date,
): Backup[] =>
  withoutNeeded(
    finished,
    [
      ...expiredSafety(finished, at),
      ...beyondKept(finished.filter(isOfRun), keeping),
      ...beyondKept(withoutPinnedRuns(copiesIn(finished, at), finished), keeping),
    ].filter((one) => !isLocked(one, at)),
  );

/**
 * Returns the backups that retention will remove after the next run, if that run succeeds.
 * @param finished finished backups, newest first
 * @param at when that run is due
 * @param baseId id of the full backup that the run is expected to need; null = the run makes a full backup
 * @returns the oldest first
 */
export function removedByNextRun<Backup extends Facts>(
  finished: readonly Backup[],
  keeping: Keeping,
  at: Date,
  baseId: number | null,
): Backup[] {
  const next: Facts = {
    id: Infinity,
    base_id: baseId,
    damage: null,
    trigger: "schedule",
    started_at: at,
    ended_at: at,
    pinned_at: null,
  };
  // The copy of the run needs a copy of the run's full.
  const copiedBase = finished.find(
    (one) => one.trigger === "copy" && baseId !== null && one.copy_of_id === baseId,
  );
  const copy: Facts = { ...next, trigger: "copy", base_id: copiedBase?.id ?? null };
  const coming = keeping.isCopied === true ? [next, copy] : [next];
  const removed = new Set<Facts>(removedAfterRun<Facts>([...coming, ...finished], keeping, at));
  return finished.filter((backup) => removed.has(backup)).toReversed();
}

type RetentionOptions = {
  store: Pick<BackupStore, "finished" | "transaction">;
  retentionStore: RetentionStore;
  configurations: Pick<ConfigurationStore, "lock">;
  tasks: TaskStore;
  removal: Removal;
  inventory: Pick<InventoryStore, "findServer">;
  clock: Clock;
};

export function createRetention(options: RetentionOptions) {
  const { store, retentionStore, configurations, tasks, removal, inventory, clock } = options;

  /** @returns whether all are removed; backups with a task, such as a restore or drill, are left for the next time */
  async function removeAll(tx: Connection, rows: readonly BackupRow[]): Promise<boolean> {
    let isAll = true;
    for (const row of rows)
      if ((await tasks.ofBackup(tx, row.id)).length > 0 || !(await removal.begin(tx, row)))
        isAll = false;
    return isAll;
  }

  /** Decides under the configuration's lock, so that concurrent decisions do not conflict. */
  const decide = <Result>(
    id: number,
    decision: (
      tx: Connection,
      configuration: ConfigurationRow,
      finished: BackupRow[],
    ) => Promise<Result>,
  ): Promise<Result | null> =>
    store.transaction(async (tx) => {
      const configuration = await configurations.lock(tx, id);
      if (configuration === null) return null;
      return decision(tx, configuration, await store.finished(id, undefined, tx));
    });

  return {
    /** Removes backups beyond the kept ones, after a run of the configuration has finished. */
    async apply(configurationId: number): Promise<void> {
      await decide(configurationId, async (tx, configuration, finished) => {
        const { hold, keep, adopted_at: adoptedAt } = configuration;
        const timeZone =
          (await inventory.findServer(configuration.server_id, tx))?.timeZone ?? "UTC";
        const now = new Date(clock.now());
        // Adopted backups are kept until the configuration is edited.
        const removed =
          adoptedAt === null
            ? removedAfterRun(finished, { hold, keep, timeZone }, now)
            : expiredSafety(finished, now);
        await removeAll(tx, removed);
        // A backup that is pinned for years must not keep the failed runs of years.
        const oldestKept = finished.findLast(
          (row) => row.trigger !== "copy" && !removed.includes(row) && !isPinned(row),
        );
        if (oldestKept !== undefined)
          await retentionStore.removeFailedBefore(tx, configurationId, oldestKept.id);
      });
    },

    /**
     * Removes expired safety backups, and files whose removal failed.
     * @returns whether everything was removed
     */
    async sweep(): Promise<boolean> {
      const now = new Date(clock.now());
      const before = new Date(now.getTime() - safetyKeptMs);
      let isAll = true;
      for (const id of await retentionStore.configurationsToSweep(before)) {
        const isDone = await decide(id, async (tx, _, finished) =>
          removeAll(tx, [
            ...expiredSafety(finished, now),
            ...(await retentionStore.notRemoved(tx, id)),
          ]),
        );
        if (isDone === false) isAll = false;
      }
      return isAll;
    },
  };
}

export type Retention = ReturnType<typeof createRetention>;
