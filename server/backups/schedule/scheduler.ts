// Starts scheduled runs, and notices missed ones. The next time of each schedule is stored, so that times that passed while the
// service was down are found at its start and run once.
import type { Logger } from "pino";
import { nextRun } from "../../../contract/backups/schedule.ts";
import type { Clock } from "../../clock.ts";
import { theSchedule } from "../../activity/actor.ts";
import { recordEvent } from "../../events/store.ts";
import { ServiceError } from "../../http/service-error.ts";
import type { Leases } from "../../instances/leases.ts";
import type { BackupService } from "../backup-service.ts";
import type { BackupStore } from "../backup-store.ts";
import type { ConfigurationStore } from "../configuration-store.ts";
import type { CopyStore } from "../copies/copy-store.ts";
import type { DueStore } from "./due-store.ts";
import { missedEvent } from "../event-data.ts";
import { createOverdueFinder } from "./overdue.ts";
import { clockDifferenceMs, createPostponedFinder } from "./postponed.ts";
import type { Retention } from "../retention/retention.ts";
import type { DueConfiguration, ScheduleStore, WatchedConfiguration } from "./schedule-store.ts";

type SchedulerOptions = {
  store: Pick<BackupStore, "transaction">;
  dueStore: DueStore;
  copies: Pick<CopyStore, "unverified">;
  configurations: Pick<ConfigurationStore, "byId" | "setMissed">;
  scheduleStore: ScheduleStore;
  backups: BackupService;
  retention: Retention;
  /** Each instance runs the schedules of its servers; any instance notices missed runs. */
  leases: Pick<Leases, "elsewhere">;
  clock: Clock;
  log: Logger;
};

/** The longest sleep, after which a suspended machine or a changed clock is noticed. */
const longestSleepMs = 30_000;
const retryMs = 1000;
const dayMs = 24 * 3600 * 1000;
const verifyEveryMs = 7 * dayMs;
const verifyAgainMs = 30 * 60_000;
const sweepEveryMs = 30 * 60_000;

/** Runs stored in one transaction: one commit for each would take minutes where thousands are due. */
const runsAtOnce = 100;

/** Times later than this were stored by a clock that was ahead, and are ignored. */
const latestOf = (now: Date): Date => new Date(now.getTime() + clockDifferenceMs);

export function createScheduler(options: SchedulerOptions) {
  const {
    store,
    dueStore,
    copies,
    configurations,
    scheduleStore,
    backups,
    retention,
    leases,
    clock,
    log,
  } = options;
  let cancel: () => void = () => undefined;
  let ticking = Promise.resolve();
  let stopped = false;
  let lookedAt: Date | null = null;
  let sweptAt: Date | null = null;
  /** When the verification of a stored file was last requested, by id of the backup. */
  const verifyAsked = new Map<number, number>();
  const findOverdue = createOverdueFinder();
  const findPostponed = createPostponedFinder();

  const isPast = (since: Date | null, now: Date, ms: number): boolean =>
    since === null || Math.abs(now.getTime() - since.getTime()) >= ms;

  /** Records `backup.missed` for each overdue run. */
  async function watch(watched: readonly WatchedConfiguration[], now: Date): Promise<void> {
    const unknown = watched.filter((one) => !one.isMissed && one.nextRunAt !== null);
    for (const { id, due } of await findOverdue(unknown, now)) {
      if (stopped) return;
      await guarded(id, async () => {
        const row = await configurations.byId(id);
        if (row === null) return;
        await store.transaction(async (tx) => {
          if (!(await configurations.setMissed(tx, id, due))) return;
          await recordEvent(tx, missedEvent(row, due));
        });
      });
    }
  }

  /** Corrects next times that a clock which was ahead has stored: until then, a schedule would neither run nor be missed. */
  async function bringForward(watched: readonly WatchedConfiguration[], now: Date): Promise<void> {
    const elsewhere = new Set(leases.elsewhere());
    const own = watched.filter(({ serverId }) => !elsewhere.has(serverId));
    for (const { row, next } of await findPostponed(own, now)) {
      if (stopped) return;
      await guarded(row.id, async () => {
        if (await scheduleStore.setMoment(row, next))
          log.warn(
            { configuration: row.id, from: row.nextRunAt, to: next },
            "a run was brought forward: the clock was ahead, the server's time zone is another, or a deletion had failed",
          );
      });
    }
  }

  /** Starts the runs of these schedules, or on failure of each half of them, so that one broken schedule holds up no other. */
  async function runDue(due: readonly DueConfiguration[], now: Date): Promise<void> {
    try {
      const moments = due.map(({ configuration, timeZone }) => ({
        configuration,
        next: nextRun(configuration.frequency, timeZone, now),
      }));
      const skipped = await backups.runScheduled(moments);
      // The run that is still active will report its own outcome.
      if (skipped.length > 0)
        log.warn(
          { configurations: skipped.map(({ id }) => id) },
          "scheduled runs were skipped: the ones before them are not over",
        );
    } catch (error) {
      const [only, ...others] = due;
      if (others.length === 0) return noteFailure(only?.configuration.id, error);
      if (stopped) return;
      const half = Math.ceil(due.length / 2);
      await runDue(due.slice(0, half), now);
      await runDue(due.slice(half), now);
    }
  }

  const noteFailure = (configuration: number | undefined, error: unknown) =>
    log.error({ err: error, configuration }, "a schedule was not followed; it is tried again");

  async function guarded(configuration: number, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      noteFailure(configuration, error);
    }
  }

  /** A busy configuration is tried again at the next turn. */
  async function quietly(ask: () => Promise<unknown>): Promise<void> {
    await ask().catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
    });
  }

  /** Tries again at the next turn where something could not be removed; otherwise every half hour. */
  async function sweepDue(now: Date): Promise<void> {
    if (!isPast(sweptAt, now, sweepEveryMs)) return;
    try {
      if (await retention.sweep()) sweptAt = now;
    } catch (error) {
      log.error({ err: error }, "old backups were not removed; it is tried again");
    }
  }

  /** A backup whose storage is away stays due, but is not requested at every turn. */
  async function verifyDue(now: Date): Promise<void> {
    for (const [id, asked] of verifyAsked)
      if (isPast(new Date(asked), now, verifyAgainMs)) verifyAsked.delete(id);
    const looked = { since: new Date(now.getTime() - verifyEveryMs), until: latestOf(now) };
    const due = await dueStore.unverified(looked, leases.elsewhere());
    for (const row of [...due, ...(await copies.unverified(looked, leases.elsewhere()))]) {
      if (stopped) return;
      if (verifyAsked.has(row.id)) continue;
      verifyAsked.set(row.id, now.getTime());
      await quietly(() => backups.verify(row));
    }
  }

  /** Work that may be some seconds late and goes through every configuration. */
  async function lookAtAll(now: Date): Promise<void> {
    if (!isPast(lookedAt, now, longestSleepMs)) return;
    await scheduleStore.noteZones(now, latestOf(now));
    const watched = await scheduleStore.watched();
    await watch(watched, now);
    await bringForward(watched, now);
    for (const row of await dueStore.undrilled(now, latestOf(now), leases.elsewhere())) {
      if (stopped) return;
      await guarded(row.configuration_id, () => quietly(() => backups.drill(row, theSchedule)));
    }
    if (stopped) return;
    await sweepDue(now);
    await verifyDue(now);
    lookedAt = now;
  }

  async function tick(): Promise<void> {
    const now = new Date(clock.now());
    const due = await scheduleStore.due(now, leases.elsewhere());
    for (let from = 0; from < due.length; from += runsAtOnce) {
      if (stopped) return;
      await runDue(due.slice(from, from + runsAtOnce), now);
    }
    if (!stopped) await lookAtAll(now);
  }

  /** Sleeps until the next time of any schedule. */
  async function sleep(): Promise<void> {
    const next = await scheduleStore.nextMoment(leases.elsewhere());
    const untilMs = (next?.getTime() ?? Infinity) - clock.now();
    // Schedules that are still due could not be started.
    const restMs = untilMs > 0 ? Math.max(50, untilMs) : retryMs;
    if (!stopped) cancel = clock.after(Math.min(longestSleepMs, restMs), wake);
  }

  async function tickAndSleep(): Promise<void> {
    try {
      await tick();
      await sleep();
    } catch (error) {
      log.error({ err: error }, "the schedules were not looked at; they are in a moment");
      if (!stopped) cancel = clock.after(longestSleepMs, wake);
    }
  }

  function wake(): void {
    if (stopped) return;
    cancel();
    ticking = ticking.then(tickAndSleep);
  }

  return {
    /** Checks all schedules now; called when one was created or changed. */
    wake,
    async stop(): Promise<void> {
      stopped = true;
      cancel();
      await ticking;
    },
  };
}
