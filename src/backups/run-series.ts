// The runs of a configuration as its chart draws them.
import type { Backup } from "../../contract/backups/backup.ts";
import { niceCeiling } from "../ui/nice-ceiling.ts";

export type Outcome = "finished" | "failed" | "damaged" | "other";

export type RunPoint = {
  id: number;
  startedAt: string;
  /** As its service says it. */
  status: string;
  outcome: Outcome;
  /** Null while it runs, and of a run that stored nothing. */
  sizeBytes: number | null;
  /** Null while it runs. */
  durationMs: number | null;
};

const shownRuns = 30;

/** Only these end the same for all services; their other words mean that it goes on. */
const isEnd = (word: string): word is "finished" | "failed" =>
  word === "finished" || word === "failed";

/** The last runs, oldest first. A service says durations in words, so they are taken from the moments. */
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
