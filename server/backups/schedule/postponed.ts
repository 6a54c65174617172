// Which schedules wait for longer than they say: the clock was ahead when their next moment was worked out, e.g. until a time
// server answered, their server has another time zone by now, or they wait for none, because a deletion that failed took it away.
import { setImmediate as turnOfEventLoop } from "node:timers/promises";
import { nextRun } from "../../../contract/backups/schedule.ts";
import type { WatchedConfiguration } from "./schedule-store.ts";

type Scheduled = Pick<
  WatchedConfiguration,
  "id" | "frequency" | "timeZone" | "nextRunAt" | "serverId"
>;

/** By less the clocks of several instances differ: what one of them has done is not of a clock that was ahead. */
export const clockDifferenceMs = 10 * 60_000;

/** Then whoever else waits has a turn. */
const judgedAtOnce = 200;

/** Remembers what it worked out: of thousands of schedules few have run since the last look. */
export function createPostponedFinder() {
  /** Of a schedule and its next moment, since when they are known to belong together; milliseconds since 1970. */
  let known = new Map<string, number>();

  /** @returns them with the moment that is their next one */
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
