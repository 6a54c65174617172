// Simulates what retention keeps after a year of a schedule, rule by rule.
import { fullsOf } from "../../../contract/backups/incremental.ts";
import {
  keptBy,
  keepPeriods,
  usedRules,
  type KeepRules,
} from "../../../contract/backups/keep-rules.ts";
import { nextRuns } from "../../../contract/backups/schedule.ts";
import { countOf } from "../../../contract/count-text.ts";
import { isHold } from "../hold-text.ts";

const dayMs = 24 * 3_600_000;
const yearDays = 365;
/** An hourly schedule in a leap year. For more frequent schedules, the simulation covers less than a year. */
const maxRuns = 8784;

type Asked = {
  frequency: string;
  timeZone: string;
  hold: number;
  keep: KeepRules | null;
  now: Date;
  /** Whether runs are incremental: a full backup is kept as long as one that depends on it. */
  isIncremental?: boolean;
};

/** A rule, and the backups that it keeps. */
export type KeptByRule = {
  /** E.g. "Last 7", "12 monthly". */
  label: string;
  /** Newest first. */
  kept: Date[];
};

export type YearOfBackups = {
  rules: KeptByRule[];
  /** Kept by any rule, each once. Newest first, at least one. */
  kept: Date[];
  /** The simulated time: "a year", or less where the schedule has too many runs. */
  span: string;
  /** Time of the newest simulated backup. */
  newest: Date;
  spanMs: number;
};

/** @returns null where no rule keeps more than the last ones, nothing runs, or `hold` is invalid */
export function simulateYear({
  frequency,
  timeZone,
  hold,
  keep,
  now,
  isIncremental = false,
}: Asked): YearOfBackups | null {
  const used = usedRules(keep);
  if (used === null || !isHold(hold)) return null;
  const end = now.getTime() + yearDays * dayMs;
  const runs = nextRuns(frequency, timeZone, now, maxRuns).filter((run) => run.getTime() <= end);
  const newestFirst = runs.toReversed();
  const [newest] = newestFirst;
  if (newest === undefined) return null;
  const byIndex = keptBy(newestFirst, used, timeZone);
  const rules = [
    { label: `Last ${hold}`, kept: newestFirst.slice(0, hold) },
    ...keepPeriods.flatMap((period) => {
      const count = used[period] ?? 0;
      if (count === 0) return [];
      const kept = newestFirst.filter((_, index) => byIndex.get(index)?.includes(period));
      return [{ label: `${count} ${period}`, kept }];
    }),
  ];
  const byRules = newestFirst.filter((_, index) => index < hold || byIndex.has(index));
  const fulls = isIncremental ? fullsOf(runs, { hold, keep: used, timeZone }) : null;
  /** Full backups that no rule keeps, but on which a kept incremental one depends. */
  const needed = [...new Set(byRules.map((run) => fulls?.get(run) ?? run))].filter(
    (full) => !byRules.includes(full),
  );
  const spanMs = newest.getTime() - now.getTime();
  return {
    rules:
      needed.length === 0
        ? rules
        : [...rules, { label: "Full, for incremental ones", kept: needed }],
    kept: [...byRules, ...needed].toSorted((a, b) => b.getTime() - a.getTime()),
    span: runs.length < maxRuns ? "a year" : ageInWords(spanMs),
    newest,
    spanMs,
  };
}

/** E.g. "11 months", "6 days", "less than a day". */
export function ageInWords(ageMs: number): string {
  const days = Math.round(ageMs / dayMs);
  if (days === 0) return "less than a day";
  const [count, unit] = days >= 61 ? [Math.round(days / 30.44), "month"] : [days, "day"];
  return countOf(count, unit);
}
