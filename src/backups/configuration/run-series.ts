// Converts the runs of a configuration for its chart.
import type { Backup } from "../../../contract/backups/backup.ts";
import { niceCeiling } from "../../ui/chart/nice-ceiling.ts";

export type Outcome = "finished" | "failed" | "damaged" | "other";

export type RunPoint = {
  id: number;
  startedAt: string;
  /** As reported by the service. */
  status: string;
  outcome: Outcome;
  /** Null while it runs, and for a run that stored nothing. */
  sizeBytes: number | null;
  /** Null while it runs. */
  durationMs: number | null;
};

const shownRuns = 30;

/** Only these words end a run in all services; any other means that it continues. */
const isEnd = (word: string): word is "finished" | "failed" =>
  word === "finished" || word === "failed";

/** Converts the last runs, oldest first. Durations are computed, because the service sends them as text. */
export const toSeries = (backups: readonly Backup[]): RunPoint[] =>
  backups
    .slice(0, shownRuns)
    .toReversed()
    .map(({ id, started_at: from, ended_at: to, size, status, damage }) => ({
      id,
      startedAt: from,
      status,
      outcome: damage ? "damaged" : isEnd(status) ? status : "other",
      sizeBytes: status === "finished" ? size : null,
      durationMs:
        isEnd(status) && to !== null ? Math.max(0, Date.parse(to) - Date.parse(from)) : null,
    }));

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Round times on a clock, whose halves are also round. */
const roundSpansMs = [
  ...[2, 10, 20, 30, 60].map((seconds) => seconds * 1000),
  ...[2, 4, 10, 20, 30, 60].map((minutes) => minutes * minuteMs),
  ...[2, 4, 6, 12, 24].map((hours) => hours * hourMs),
];

/** Returns the next round time: above a second, one that is round on a clock. */
export function niceSpanMs(value: number): number {
  if (value <= 1000) return niceCeiling(value);
  return (
    roundSpansMs.find((span) => span >= value) ?? niceCeiling(value / (24 * hourMs)) * 24 * hourMs
  );
}
