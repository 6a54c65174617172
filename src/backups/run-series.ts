// The numbers behind the chart of a configuration's runs.
import type { Backup } from "../../contract/backups/backup.ts";

export type RunPoint = { id: number; startedAt: string; sizeBytes: number; durationMs: number };

const shownRuns = 30;

/** The finished runs, oldest first. A service says durations in words, so they are taken from the moments. */
export const toSeries = (backups: readonly Backup[]): RunPoint[] =>
  backups
    .filter(({ status, ended_at }) => status === "finished" && ended_at !== null)
    .slice(0, shownRuns)
    .toReversed()
    .map(({ id, started_at, ended_at, size }) => ({
      id,
      startedAt: started_at,
      sizeBytes: size,
      durationMs: Math.max(0, Date.parse(ended_at ?? started_at) - Date.parse(started_at)),
    }));

/** The next round number at or above `value`: 1, 2 or 5 times a power of ten. */
export function niceCeiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10;
  return step * power;
}
