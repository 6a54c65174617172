// The row counts of a configuration's backups, for the table history.
import type { BackupCounts } from "../../../contract/backups/counts.ts";
import { countText } from "../../../contract/count-text.ts";
import type { LinePoint } from "../../ui/chart/LineChart.tsx";
import { momentInZone, viewersZone } from "../zone-text.ts";

type Series = BackupCounts["series"][number];

/** Returns one line for each series of consecutive backups that have the table. */
export function linesOf(
  { counts }: Series,
  backups: BackupCounts["backups"],
): readonly LinePoint[][] {
  const lines: LinePoint[][] = [];
  let isGap = true;
  for (const [index, { started_at: at }] of backups.entries()) {
    const value = counts[index] ?? null;
    if (value !== null && isGap) lines.push([]);
    if (value !== null) lines.at(-1)?.push({ atMs: Date.parse(at), value });
    isGap = value === null;
  }
  return lines;
}

/** Returns the difference between the two newest backups: "−484 (−40%)", "+3", "New", "Gone". */
export function changeText({ counts }: Series): string {
  const now = counts.at(-1) ?? null;
  const before = counts.at(-2) ?? null;
  if (now === null) return before === null ? "–" : "Gone";
  if (counts.length === 1) return "–";
  if (before === null) return "New";
  if (now === before) return "None";
  const sign = now > before ? "+" : "−";
  const difference = Math.abs(now - before);
  // Rounded down, so that only a complete loss is 100%.
  const percent = before === 0 ? 0 : Math.floor((100 * difference) / before);
  return `${sign}${countText(difference)}${percent === 0 ? "" : ` (${sign}${percent}%)`}`;
}

/** "1,204 at Thu, 12 Nov, 02:30" */
export const countReadout = ({ atMs, value }: LinePoint): string =>
  `${countText(value)} at ${momentInZone(new Date(atMs), viewersZone)}`;
