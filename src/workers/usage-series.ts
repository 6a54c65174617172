// Converts a worker's samples for charts: points, starts between them, and their texts.
import type { WorkerUsage } from "../../contract/workers/usage.ts";
import { memoryText } from "../ui/text/memory-text.ts";
import { niceCeiling } from "../ui/chart/nice-ceiling.ts";
import { dateLocale } from "../ui/time/time-text.ts";

type ProcessUsage = WorkerUsage["processes"][number];

export const hourMs = 3600_000;

export type UsagePoint = { atMs: number; value: number; started: string | null };

export type Measure = {
  label: string;
  valueOf: (sample: ProcessUsage["samples"][number]) => number;
  format: (value: number) => string;
  /**
   * Returns the upper end of the axis for its largest value: round, and high enough that an idle process is a flat
   * line.
   */
  topOf: (largest: number) => number;
};

export const measures: readonly Measure[] = [
  {
    label: "CPU",
    valueOf: ({ cpu }) => cpu,
    format: (value) => `${Number(value.toPrecision(3))} %`,
    topOf: (largest) => niceCeiling(Math.max(10, largest)),
  },
  {
    label: "Memory",
    valueOf: ({ memory }) => memory,
    format: (bytes) => memoryText(Math.round(bytes / 1024 ** 2)),
    topOf: (largest) => {
      const unit = largest > 500 * 1024 ** 2 ? 1024 ** 3 : 1024 ** 2;
      return unit * niceCeiling(Math.max(10 * 1024 ** 2, largest) / unit);
    },
  },
];

/** Returns each sample with the start since the previous one. */
export function pointsOf({ samples, starts }: ProcessUsage, { valueOf }: Measure): UsagePoint[] {
  let beforeMs = 0;
  return samples.map((sample) => {
    const atMs = Date.parse(sample.at);
    const started = starts.find((at) => Date.parse(at) > beforeMs && Date.parse(at) <= atMs);
    beforeMs = atMs;
    return { atMs, value: valueOf(sample), started: started ?? null };
  });
}

/** Splits the points at gaps, during which the process did not run. */
export function runsOf(points: readonly UsagePoint[], everyMs: number): UsagePoint[][] {
  const runs: UsagePoint[][] = [];
  for (const point of points) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run === undefined || last === undefined || point.atMs - last.atMs > 2.5 * everyMs)
      runs.push([point]);
    else run.push(point);
  }
  return runs;
}

const clock = new Intl.DateTimeFormat(dateLocale, { timeStyle: "medium" });
export const timeOf = (ms: number): string => clock.format(ms);

/** "12 % at 14:02:15, started at 14:02:03" */
export const readout = ({ atMs, value, started }: UsagePoint, { format }: Measure): string =>
  `${format(value)} at ${timeOf(atMs)}${started === null ? "" : `, started at ${timeOf(Date.parse(started))}`}`;
