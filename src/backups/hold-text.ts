// Describes how much time the kept backups of a schedule cover.
import { maxHold } from "../../contract/backups/backup.ts";
import { countOf } from "../../contract/count-text.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const units = [
  { name: "year", sizeMs: 365.25 * dayMs, from: 1.9 },
  { name: "month", sizeMs: 30.44 * dayMs, from: 1.9 },
  { name: "week", sizeMs: 7 * dayMs, from: 1 },
  { name: "day", sizeMs: dayMs, from: 1.9 },
  { name: "hour", sizeMs: hourMs, from: 1 },
  { name: "minute", sizeMs: 60_000, from: 0 },
] as const;

/** Whether a number is a valid hold; it may still be being typed. */
export const isHold = (hold: number): boolean =>
  Number.isInteger(hold) && hold >= 1 && hold <= maxHold;

/** Number of runs that suffice to measure their average distance: more than a week of hourly runs. */
export const sampledRuns = 200;

/**
 * E.g. "7 backups cover about 1 week"; null where that is unknown.
 * @param runs upcoming runs of the schedule, oldest first, if possible one more than are kept
 */
export function holdText(runs: readonly Date[], hold: number): string | null {
  const used = runs.slice(0, hold + 1);
  const first = used[0];
  const last = used.at(-1);
  if (first === undefined || last === undefined || used.length < 2) return null;
  const reachMs = ((last.getTime() - first.getTime()) / (used.length - 1)) * hold;
  const unit = units.find(({ sizeMs, from }) => reachMs >= sizeMs * from) ?? units[5];
  const count = Math.max(1, Math.round(reachMs / unit.sizeMs));
  return `${countOf(hold, "backup covers", "backups cover")} about ${countOf(count, unit.name)}`;
}
