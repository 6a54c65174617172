// Finds configurations that missed a run: none has begun, although one was due a quarter of the schedule's gap ago.
import { setImmediate as turnOfEventLoop } from "node:timers/promises";
import { expectedGapMs, nextRun } from "../../../contract/backups/schedule.ts";
import type { WatchedConfiguration } from "./schedule-store.ts";

/** Share of the gap by which a run may be late before it counts as missed. */
const toleratedLateness = 0.25;

/** Configurations per turn of the event loop: ten thousand take a third of a second. */
const judgedAtOnce = 200;

type Begun = Pick<WatchedConfiguration, "id" | "frequency" | "timeZone" | "begun">;
type Judged = { due: Date | null; overdueMs: number };

/** Caches results, because few of thousands of schedules have run since the previous check. */
export function createOverdueFinder() {
  let known = new Map<string, Judged>();

  function judge({ frequency, timeZone, begun }: Begun): Judged {
    const due = nextRun(frequency, timeZone, begun);
    if (due === null) return { due, overdueMs: Infinity };
    const gapMs = expectedGapMs(frequency, timeZone, due);
    return { due, overdueMs: due.getTime() + toleratedLateness * gapMs };
  }

  return async (watched: readonly Begun[], now: Date): Promise<{ id: number; due: Date }[]> => {
    const judged = new Map<string, Judged>();
    const overdue: { id: number; due: Date }[] = [];
    let fresh = 0;
    for (const row of watched) {
      const key = `${row.frequency} ${row.timeZone} ${row.begun.getTime()}`;
      let verdict = judged.get(key) ?? known.get(key);
      if (verdict === undefined) {
        if (++fresh % judgedAtOnce === 0) await turnOfEventLoop();
        verdict = judge(row);
      }
      judged.set(key, verdict);
      const { due, overdueMs } = verdict;
      if (due !== null && now.getTime() > overdueMs) overdue.push({ id: row.id, due });
    }
    known = judged;
    return overdue;
  };
}
