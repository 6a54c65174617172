// What is kept once a schedule has run for a year.
import { type KeepRules, keptBy } from "../../contract/backups/keep-rules.ts";
import { formatBytes } from "./backup-facts.ts";
import { nextRuns } from "../../contract/backups/schedule.ts";

const dayMs = 24 * 3_600_000;
const yearDays = 365;
/** Those of a year of hours. More often than that, what comes first in the year is left out. */
const mostRuns = 8784;

type Asked = {
  frequency: string;
  timeZone: string;
  hold: number;
  /** Rules that keep any; null = there are none, and nothing to say. */
  keep: KeepRules | null;
  now: Date;
  /** How large a backup usually is; null = nobody knows yet. */
  usualBytes?: number | null;
};

/** E.g. "After a year: 20 backups, the oldest 11 months older than the newest." Null where no rule keeps any, or nothing runs. */
export function yearInWords(asked: Asked): string | null {
  const { frequency, timeZone, hold, keep, now, usualBytes = null } = asked;
  if (keep === null) return null;
  const end = now.getTime() + yearDays * dayMs;
  const runs = nextRuns(frequency, timeZone, now, mostRuns).filter((run) => run.getTime() <= end);
  const newest = runs.toReversed();
  const [last] = newest;
  if (last === undefined) return null;
  const kept = new Set([...newest.keys()].slice(0, hold));
  for (const index of keptBy(newest, keep, timeZone).keys()) kept.add(index);
  const oldest = newest[Math.max(...kept)] ?? last;
  const isWhole = runs.length < mostRuns;
  const days = Math.round((last.getTime() - oldest.getTime()) / dayMs);
  const after = isWhole
    ? "a year"
    : daysInWords(Math.round((last.getTime() - now.getTime()) / dayMs));
  return `After ${after}: ${kept.size} ${kept.size === 1 ? "backup" : "backups"}${days > 0 ? `, the oldest ${daysInWords(days)} older than the newest` : ""}${usualBytes === null ? "" : `, about ${formatBytes(kept.size * usualBytes, 2)}`}.`;
}

const daysInWords = (days: number): string => {
  const [count, unit] = days >= 61 ? [Math.round(days / 30.44), "month"] : [days, "day"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
};
