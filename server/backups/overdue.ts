// Which configurations missed a run: none has begun although one should have, a quarter of the schedule's gap ago.
import { expectedGapMs, nextRun } from "../../contract/backups/schedule.ts";
import type { WatchedConfiguration } from "./configuration-store.ts";

/** So much of a gap may pass after a run's moment before the run counts as missed. */
const toleratedLateness = 0.25;

type Judged = { due: Date | null; overdueMs: number };

/** Remembers what it worked out: of thousands of schedules few have run since the last look. */
export function createOverdueFinder() {
  let known = new Map<string, Judged>();

  function judge({ frequency, timeZone, begun }: WatchedConfiguration): Judged {
    const due = nextRun(frequency, timeZone, begun);
    if (due === null) return { due, overdueMs: Infinity };
    const gapMs = expectedGapMs(frequency, timeZone, due);
    return { due, overdueMs: due.getTime() + toleratedLateness * gapMs };
  }

  return (watched: readonly WatchedConfiguration[], now: Date): { id: number; due: Date }[] => {
    const judged = new Map<string, Judged>();
    const overdue = watched.flatMap((row) => {
      const key = `${row.frequency} ${row.timeZone} ${row.begun.getTime()}`;
      const verdict = known.get(key) ?? judge(row);
      judged.set(key, verdict);
      const { due, overdueMs } = verdict;
      return due !== null && now.getTime() > overdueMs ? [{ id: row.id, due }] : [];
    });
    known = judged;
    return overdue;
  };
}
