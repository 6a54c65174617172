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

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** What a clock has as round: halves of each are round too. */
const roundSpansMs = [
  ...[2, 10, 20, 30, 60].map((seconds) => seconds * 1000),
  ...[2, 4, 10, 20, 30, 60].map((minutes) => minutes * minuteMs),
  ...[2, 4, 6, 12, 24].map((hours) => hours * hourMs),
];

/** The same for a span of time: above a second, what is round on a clock. */
export function niceSpanMs(value: number): number {
  if (value <= 1000) return niceCeiling(value);
  return (
    roundSpansMs.find((span) => span >= value) ?? niceCeiling(value / (24 * hourMs)) * 24 * hourMs
  );
}
