// Finds schedules whose stored next run is later than it should be, or missing: the clock was ahead when it was computed (e.g. before
// a time server responded), the server's time zone has changed, or a failed deletion of the configuration has cleared it.
import { setImmediate as turnOfEventLoop } from "node:timers/promises";
import { nextRun } from "../../../contract/backups/schedule.ts";
import type { WatchedConfiguration } from "./schedule-store.ts";

type Scheduled = Pick<
  WatchedConfiguration,
  "id" | "frequency" | "timeZone" | "nextRunAt" | "serverId"
>;

/** Tolerated difference between the clocks of instances; only a clock that was further ahead counts as wrong. */
export const clockDifferenceMs = 10 * 60_000;

/** Schedules that are judged before other work on the event loop gets a turn. */
const judgedAtOnce = 200;

/** Caches results, because only few of thousands of schedules change between two calls. */
export function createPostponedFinder() {
  /** By schedule and next run: since when the two are known to match, in milliseconds since 1970. */
  let known = new Map<string, number>();

  /** Returns the postponed schedules with their correct next run. */
  return async <Found extends Scheduled>(
    all: readonly Found[],
    now: Date,
  ): Promise<{ row: Found; next: Date | null }[]> => {
    const fitting = new Map<string, number>();
    const postponed: { row: Found; next: Date | null }[] = [];
    let fresh = 0;
    for (const row of all) {
      const { frequency, timeZone, nextRunAt } = row;
      const key = `${frequency} ${timeZone} ${nextRunAt?.getTime()}`;
      const since = fitting.get(key) ?? known.get(key) ?? Infinity;
      if (since <= now.getTime()) {
        fitting.set(key, since);
        continue;
      }
      if (++fresh % judgedAtOnce === 0) await turnOfEventLoop();
      const latest = nextRun(frequency, timeZone, new Date(now.getTime() + clockDifferenceMs));
      if (latest !== null && (nextRunAt === null || latest < nextRunAt))
        postponed.push({ row, next: nextRun(frequency, timeZone, now) });
      else fitting.set(key, now.getTime());
    }
    known = fitting;
    return postponed;
  };
}
