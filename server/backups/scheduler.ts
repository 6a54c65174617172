// Makes runs when their time has come, and notices when one did not happen. The next moment of each schedule stands in
// its row: what came while the service was down is found there at the start, and run once.
import type { Logger } from "pino";
import { nextRun } from "../../contract/backups/schedule.ts";
import type { Clock } from "../clock.ts";
import { theSchedule } from "../activity/actor.ts";
import { recordEvent } from "../events/store.ts";
import { ServiceError } from "../http/service-error.ts";
import type { Leases } from "../instances/leases.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { Connection } from "../store/database.ts";
import type { BackupStore } from "./backup-store.ts";
import type { BackupService } from "./backup-service.ts";
import type { ConfigurationRow, ConfigurationStore } from "./configuration-store.ts";
import { missedEvent } from "./event-data.ts";
import { createOverdueFinder } from "./overdue.ts";
import type { Retention } from "./retention.ts";

type SchedulerOptions = {
  store: BackupStore;
  configurations: ConfigurationStore;
  inventory: InventoryStore;
  backups: BackupService;
  retention: Retention;
  /** Each instance follows the schedules of its servers; that a run was missed any of them notices. */
  leases: Pick<Leases, "elsewhere">;
  clock: Clock;
  log: Logger;
};

/** The longest sleep: a machine that was suspended, or whose clock was set, is noticed after it. */
const longestSleepMs = 30_000;
const retryMs = 1000;
const dayMs = 24 * 3600 * 1000;
const verifyEveryMs = 7 * dayMs;
const verifyAgainMs = 30 * 60_000;
const sweepEveryMs = 30 * 60_000;

/** The run's moment came to somebody else, or its schedule was changed meanwhile. */
class NotDueAnyMore extends Error {
  override name = "NotDueAnyMore";
}

export function createScheduler(options: SchedulerOptions) {
  const { store, configurations, inventory, backups, retention, leases, clock, log } = options;
  let cancel: () => void = () => undefined;
  let ticking = Promise.resolve();
  let stopped = false;
  let lookedAt: Date | null = null;
  let sweptAt: Date | null = null;
  /** When a stored file was last asked to be read again, by the backup's id. */
  const verifyAsked = new Map<number, number>();
  const findOverdue = createOverdueFinder();

  const isPast = (since: Date | null, now: Date, ms: number): boolean =>
    since === null || Math.abs(now.getTime() - since.getTime()) >= ms;

  /** Raises `backup.missed` for each that is overdue. */
  async function watch(now: Date): Promise<void> {
    for (const { id, due } of findOverdue(await configurations.watched(), now)) {
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

  async function runDue(row: ConfigurationRow, now: Date): Promise<void> {
    const zone = (await inventory.findServer(row.server_id))?.timeZone ?? "UTC";
    const next = nextRun(row.frequency, zone, now);
    const take = async (tx: Connection) => {
      if (!(await configurations.setNextRun(tx, row, next))) throw new NotDueAnyMore();
    };
    try {
      await backups.run(row.id, "schedule", take);
    } catch (error) {
      if (error instanceof NotDueAnyMore) return;
      if (!(error instanceof ServiceError)) throw error;
      // The run before it is not over. That one will report how it ended; this moment is skipped, not queued.
      log.warn({ configuration: row.id, reason: error.message }, "a scheduled run was skipped");
      await store.transaction((tx) => configurations.setNextRun(tx, row, next));
    }
  }

  async function guarded(configuration: number, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.error({ err: error, configuration }, "a schedule was not followed; it is tried again");
    }
  }

  /** One that is busy is asked again at the next tick. */
  async function quietly(ask: () => Promise<unknown>): Promise<void> {
    await ask().catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
    });
  }

  /** What could not go yet is tried at the next look, the rest twice an hour. */
  async function sweepDue(now: Date): Promise<void> {
    if (!isPast(sweptAt, now, sweepEveryMs)) return;
    try {
      if (await retention.sweep()) sweptAt = now;
    } catch (error) {
      log.error({ err: error }, "old backups were not removed; it is tried again");
    }
  }

  /** One whose storage is away stays due; it is not asked for at every look. */
  async function verifyDue(now: Date): Promise<void> {
    for (const [id, asked] of verifyAsked)
      if (isPast(new Date(asked), now, verifyAgainMs)) verifyAsked.delete(id);
    for (const row of await store.unverifiedSince(
      new Date(now.getTime() - verifyEveryMs),
      leases.elsewhere(),
    )) {
      if (stopped) return;
      if (verifyAsked.has(row.id)) continue;
      verifyAsked.set(row.id, now.getTime());
      await quietly(() => backups.verify(row));
    }
  }

  /** What may be some seconds late, and looks at every configuration. */
  async function lookAtAll(now: Date): Promise<void> {
    if (!isPast(lookedAt, now, longestSleepMs)) return;
    await watch(now);
    for (const row of await store.undrilled(now, leases.elsewhere())) {
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
    for (const row of await configurations.due(now, leases.elsewhere())) {
      if (stopped) return;
      await guarded(row.id, () => runDue(row, now));
    }
    if (!stopped) await lookAtAll(now);
  }

  /** Sleeps until the next moment of any schedule. */
  async function sleep(): Promise<void> {
    const next = await configurations.nextMoment(leases.elsewhere());
    const untilMs = (next?.getTime() ?? Infinity) - clock.now();
    // What is still due could not be begun.
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
    /** Looks at all schedules now; also when one was made or changed. */
    wake,
    async stop(): Promise<void> {
      stopped = true;
      cancel();
      await ticking;
    },
  };
}
