// Makes runs when their time has come, and notices when one did not happen. The next moment of each schedule stands in
// its row: what came while the service was down is found there at the start, and run once.
import type { Logger } from "pino";
import { expectedGapMs, nextRun } from "../../contract/backups/schedule.ts";
import type { Clock } from "../clock.ts";
import { theSchedule } from "../activity/actor.ts";
import { recordEvent } from "../events/store.ts";
import { ServiceError } from "../http/service-error.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { BackupRow, BackupStore } from "./backup-store.ts";
import type { BackupService } from "./backup-service.ts";
import type { ConfigurationRow, ConfigurationStore } from "./configuration-store.ts";
import { missedEvent } from "./event-data.ts";
import type { Retention } from "./retention.ts";

type SchedulerOptions = {
  store: BackupStore;
  configurations: ConfigurationStore;
  inventory: InventoryStore;
  backups: BackupService;
  retention: Retention;
  clock: Clock;
  log: Logger;
};

/** The longest sleep: a machine that was suspended, or whose clock was set, is noticed after it. */
const longestSleepMs = 30_000;
const dayMs = 24 * 3600 * 1000;
const verifyEveryMs = 7 * dayMs;
const verifyAgainMs = 30 * 60_000;
const sweepEveryMs = 30 * 60_000;
/** So much of a gap may pass after a run's moment before the run counts as missed. */
const toleratedLateness = 0.25;

export function createScheduler(options: SchedulerOptions) {
  const { store, configurations, inventory, backups, retention, clock, log } = options;
  let cancel: () => void = () => undefined;
  let ticking = Promise.resolve();
  let stopped = false;
  let sweptAt: Date | null = null;
  /** When a stored file was last asked to be read again, by the backup's id. */
  const verifyAsked = new Map<number, number>();

  async function timeZoneOf({ server_id }: ConfigurationRow): Promise<string> {
    return (await inventory.findServer(server_id))?.timeZone ?? "UTC";
  }

  /** Raises `backup.missed` when no run has begun although one should have, a quarter of the gap ago. */
  async function watch(row: ConfigurationRow, now: Date): Promise<void> {
    if (row.missed_since !== null) return;
    const zone = await timeZoneOf(row);
    const begun = (await store.lastBegun(row.id)) ?? row.created_at;
    const due = nextRun(row.frequency, zone, begun);
    if (due === null) return;
    const lateMs = now.getTime() - due.getTime();
    if (lateMs <= toleratedLateness * expectedGapMs(row.frequency, zone, due)) return;
    await store.transaction(async (tx) => {
      if (!(await configurations.setMissed(tx, row.id, due))) return;
      await recordEvent(tx, missedEvent(row, due));
    });
  }

  async function runDue(row: ConfigurationRow, now: Date): Promise<void> {
    const next = nextRun(row.frequency, await timeZoneOf(row), now);
    try {
      await backups.run(row.id, "schedule", (tx) => configurations.setNextRun(tx, row.id, next));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // The run before it is not over. That one will report how it ended; this moment is skipped, not queued.
      log.warn({ configuration: row.id, reason: error.message }, "a scheduled run was skipped");
      await store.transaction((tx) => configurations.setNextRun(tx, row.id, next));
    }
  }

  async function proveDue(row: ConfigurationRow, now: Date): Promise<void> {
    if (row.drill === null) return;
    const [newest] = await store.finishedRuns(row.id, 1);
    if (newest === undefined || newest.drill_status === "running") return;
    const last = latest(row.last_proven_at, newest.drilled_at);
    if (last !== null && now.getTime() - last.getTime() < row.drill * dayMs) return;
    await quietly(() => backups.drill(newest, theSchedule));
  }

  /** One that is busy is asked again at the next tick. */
  async function quietly(ask: () => Promise<unknown>): Promise<void> {
    await ask().catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
    });
  }

  /** What could not go yet is tried at the next tick, the rest twice an hour. */
  async function sweepDue(now: Date): Promise<void> {
    const sinceMs = sweptAt === null ? Infinity : Math.abs(now.getTime() - sweptAt.getTime());
    if (sinceMs < sweepEveryMs) return;
    try {
      if (await retention.sweep()) sweptAt = now;
    } catch (error) {
      log.error({ err: error }, "old backups were not removed; it is tried again");
    }
  }

  /** One whose storage is away stays due; it is not asked for at every tick. */
  async function verifyDue(row: BackupRow, now: Date): Promise<void> {
    const asked = verifyAsked.get(row.id);
    if (asked !== undefined && Math.abs(now.getTime() - asked) < verifyAgainMs) return;
    verifyAsked.set(row.id, now.getTime());
    await quietly(() => backups.verify(row));
  }

  async function tick(): Promise<void> {
    const now = new Date(clock.now());
    const rows = await configurations.scheduled();
    for (const row of rows) {
      if (stopped) return;
      try {
        await watch(row, now);
        if (row.next_run_at !== null && row.next_run_at <= now) await runDue(row, now);
        await proveDue(row, now);
      } catch (error) {
        log.error(
          { err: error, configuration: row.id },
          "a schedule was not followed; it is tried again",
        );
      }
    }
    if (stopped) return;
    await sweepDue(now);
    for (const [id, asked] of verifyAsked)
      if (Math.abs(now.getTime() - asked) >= verifyAgainMs) verifyAsked.delete(id);
    const stale: BackupRow[] = await store.unverifiedSince(new Date(now.getTime() - verifyEveryMs));
    for (const row of stale) await verifyDue(row, now);
  }

  /** Sleeps until the next moment of any schedule. */
  async function sleep(): Promise<void> {
    const [first] = await configurations.scheduled();
    const untilMs = (first?.next_run_at?.getTime() ?? Infinity) - clock.now();
    if (!stopped) cancel = clock.after(Math.min(longestSleepMs, Math.max(50, untilMs)), wake);
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
    /** Looks at all schedules now; also when one was made or changed. */
    wake,
    async stop(): Promise<void> {
      stopped = true;
      cancel();
      await ticking;
    },
  };
}

const latest = (a: Date | null, b: Date | null): Date | null =>
  a === null ? b : b === null || a > b ? a : b;
